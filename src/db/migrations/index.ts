/**
 * All migrations, in order. Until the first release, the schema is one baseline, in sections. What is on main is
 * never changed; a change is a new migration with the next number, from 0132 on.
 */
import type { Migration } from '../../platform/postgres/migrate';
import { steps as looksAtTimes } from './0121-looks-at-times';
import { indexes as pageFactsIndexes, sql as pageFacts } from './0122-page-facts';
import { sql as ownCredits } from './0123-own-credits';
import { indexes as operationsIndexes, sql as operations } from './0124-operations';
import { indexes as accountMinutesIndexes, sql as accountMinutes } from './0130-account-minutes';
import { sql as workerReadsAlarms } from './0131-worker-reads-alarms';
import { baseline } from './baseline';

export const MIGRATIONS: readonly Migration[] = [
  { name: '0120-baseline', sql: baseline },
  { name: '0121-looks-at-times', concurrent: looksAtTimes },
  { name: '0122-page-facts', sql: pageFacts },
  { name: '0122-page-facts-indexes', concurrent: pageFactsIndexes },
  { name: '0123-own-credits', sql: ownCredits },
  { name: '0124-operations', sql: operations },
  { name: '0124-operations-indexes', concurrent: operationsIndexes },
  { name: '0130-account-minutes', sql: accountMinutes },
  { name: '0130-account-minutes-indexes', concurrent: accountMinutesIndexes },
  { name: '0131-worker-reads-alarms', sql: workerReadsAlarms },
];
