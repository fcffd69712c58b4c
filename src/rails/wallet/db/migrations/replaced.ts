/**
 * The migrations that the baseline replaces, by name. A database that has all of them has the baseline's
 * schema (../migrate).
 */
export const REPLACED: readonly string[] = `
  0001-transfers 0002-deposits 0003-durable 0004-held-deposits 0005-decisions 0006-named-decisions
  0007-replaced-signers 0008-found-transactions 0009-waiting-transfers 0011-refused-sweeps
  0012-freed-nonces 0013-several-signers 0014-accepted-chains 0015-rescans 0016-kept-balances
  0017-database-identity`
  .trim()
  .split(/\s+/);
