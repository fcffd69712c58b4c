/**
 * The wallet's migrations in the order in which they are applied: until the first release, one baseline for
 * each group of tables. They only go forward; a change is a new migration with the next number, from 0018 on.
 */
import { DEPOSITS } from './baseline/deposits';
import { OPERATIONS } from './baseline/operations';
import { SWEEPS } from './baseline/sweeps';
import { TRANSFERS } from './baseline/transfers';
import { NEW_DATABASE } from './0018-new-database';
import { AGREED_DEPOSITS } from './0019-agreed-deposits';
import { REFUND_ADDRESS } from './0020-refund-address';
import { RESTORE } from './0021-restore';

export interface Migration {
  name: string;
  sql: string;
}

/** Their names differ from those that they replace (./replaced), which an older database has on record. */
export const BASELINE: readonly Migration[] = [
  { name: 'baseline/transfers', sql: TRANSFERS },
  { name: 'baseline/deposits', sql: DEPOSITS },
  { name: 'baseline/sweeps', sql: SWEEPS },
  { name: 'baseline/operations', sql: OPERATIONS },
];

export const MIGRATIONS: readonly Migration[] = [
  ...BASELINE,
  { name: '0018-new-database', sql: NEW_DATABASE },
  { name: '0019-agreed-deposits', sql: AGREED_DEPOSITS },
  { name: '0020-refund-address', sql: REFUND_ADDRESS },
  { name: '0021-restore', sql: RESTORE },
];
