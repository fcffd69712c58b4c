/** GET /transactions: what moved on the caller's balances. */
import { listTransactions } from '../db/repositories/transactions';
import type { Db } from '../db/transaction';
import type { Transactions } from './services';

export function createTransactions({ db }: { db: Db }): Transactions {
  return { list: (caller, query) => listTransactions(db, { ...caller, ...query }) };
}
