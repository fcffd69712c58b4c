/** What an operator's acceptance of a chain must know, after a reorganization below the final block. */
export const ACCEPTED_CHAINS = `
-- The block of the receipt that ended the slot: what is above the fork is followed again.
ALTER TABLE wallet.slot ADD COLUMN settled_block bigint;

-- Since when a credited deposit is not on the chain. It stays final: money that is credited is a
-- person's decision.
ALTER TABLE wallet.deposit ADD COLUMN missing_since timestamptz(3);
CREATE INDEX deposit_missing ON wallet.deposit (chain_id) WHERE missing_since IS NOT NULL;
`;
