/**
 * A database that has followed a chain since before its hot wallets were registered was restored; one that
 * begins to follow it may stand in for one that was lost with payouts under way.
 */
export const NEW_DATABASE = `
ALTER TABLE wallet.followed_chain
  -- From the first start until the hot wallets are registered.
  ADD COLUMN is_new boolean NOT NULL DEFAULT false;
`;
