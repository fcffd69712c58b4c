/** Why a node refuses a transaction of a sweep: the other transactions go on. */
export const REFUSED_SWEEPS = `
ALTER TABLE wallet.sweep_transaction ADD COLUMN refusal text;
`;
