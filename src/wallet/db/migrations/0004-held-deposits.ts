/** The metrics count the held deposits every 15 seconds, among all that were ever seen. */
export const HELD_DEPOSITS = `
CREATE INDEX deposit_held ON wallet.deposit (chain_id) WHERE screening = 'held';
`;
