/** Balances and transactions of an account in one mode. Reads never use Temporal. */
import { readBookkeeping } from '../db/repositories/bookkeeping';
import { listBalances } from '../db/repositories/ledger';
import { listSource } from '../db/repositories/lists';
import { findTransaction, listTransactions } from '../db/repositories/transactions';
import type { Db, Reader } from '../db/transaction';
import { ApiError } from '../domain/errors';
import { exportFile } from './exports';
import { reconcile } from './merchant-reconciliation';
import type { Balances } from './services';

interface BalancesDeps {
  db: Db;
  shortStatements: Reader;
}

export function createBalances(deps: BalancesDeps): Balances {
  return {
    list: ({ accountId, mode }) => listBalances(deps.shortStatements, accountId, mode),
    transactions: (caller, query) =>
      listTransactions(listSource(deps, query), { ...caller, ...query }),
    exportFile: async ({ accountId, mode }, request) => {
      const books = await readBookkeeping(deps.shortStatements, accountId);
      return exportFile(deps.db, books, { accountId, mode, ...request });
    },
    reconcile: (caller, request) => reconcile(deps.db, caller, request),
    async transaction({ accountId, mode }, id) {
      const found = await findTransaction(deps.shortStatements, { accountId, mode, id });
      if (found !== null) return found;
      throw new ApiError({ code: 'not_found', details: { resource: 'transaction' } });
    },
  };
}
