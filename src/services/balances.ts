/** Balances and transactions of an account in one mode. Reads never use Temporal. */
import { listBalances } from '../db/repositories/ledger';
import { listTransactions } from '../db/repositories/transactions';
import type { Db } from '../db/transaction';
import type { Balances } from './services';

export function createBalances({ db }: { db: Db }): Balances {
  return {
    list: ({ accountId, mode }) => listBalances(db, accountId, mode),
    transactions: (caller, query) => listTransactions(db, { ...caller, ...query }),
  };
}
