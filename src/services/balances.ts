/** Balances of an account in one mode. */
import { listBalances } from '../db/repositories/ledger';
import type { Db } from '../db/transaction';
import type { Balances } from './services';

export function createBalances({ db }: { db: Db }): Balances {
  return { list: ({ accountId, mode }) => listBalances(db, accountId, mode) };
}
