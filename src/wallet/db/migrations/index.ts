/** The wallet's migrations in the order in which they are applied. They only go forward. */
import { TRANSFERS } from './0001-transfers';
import { DEPOSITS } from './0002-deposits';
import { DURABLE } from './0003-durable';
import { HELD_DEPOSITS } from './0004-held-deposits';
import { DECISIONS } from './0005-decisions';
import { NAMED_DECISIONS } from './0006-named-decisions';
import { REPLACED_SIGNERS } from './0007-replaced-signers';
import { FOUND_TRANSACTIONS } from './0008-found-transactions';
import { WAITING_TRANSFERS } from './0009-waiting-transfers';
import { REFUSED_SWEEPS } from './0011-refused-sweeps';
import { FREED_NONCES } from './0012-freed-nonces';
import { SEVERAL_SIGNERS } from './0013-several-signers';
import { RESCANS } from './0015-rescans';
import { KEPT_BALANCES } from './0016-kept-balances';
import { DATABASE_IDENTITY } from './0017-database-identity';
import { ACCEPTED_CHAINS } from './0014-accepted-chains';

export interface Migration {
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-transfers', sql: TRANSFERS },
  { name: '0002-deposits', sql: DEPOSITS },
  { name: '0003-durable', sql: DURABLE },
  { name: '0004-held-deposits', sql: HELD_DEPOSITS },
  { name: '0005-decisions', sql: DECISIONS },
  { name: '0006-named-decisions', sql: NAMED_DECISIONS },
  { name: '0007-replaced-signers', sql: REPLACED_SIGNERS },
  { name: '0008-found-transactions', sql: FOUND_TRANSACTIONS },
  { name: '0009-waiting-transfers', sql: WAITING_TRANSFERS },
  { name: '0011-refused-sweeps', sql: REFUSED_SWEEPS },
  { name: '0012-freed-nonces', sql: FREED_NONCES },
  { name: '0013-several-signers', sql: SEVERAL_SIGNERS },
  { name: '0015-rescans', sql: RESCANS },
  { name: '0016-kept-balances', sql: KEPT_BALANCES },
  { name: '0017-database-identity', sql: DATABASE_IDENTITY },
  { name: '0014-accepted-chains', sql: ACCEPTED_CHAINS },
];
