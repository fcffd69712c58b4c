/** The migrations that the baseline replaces, by name: a database that has all of them has its schema. */
export const REPLACED: readonly string[] = `
  baseline/transfers baseline/deposits baseline/sweeps baseline/operations 0018-new-database
  0019-agreed-deposits 0020-refund-address 0021-restore`
  .trim()
  .split(/\s+/);
