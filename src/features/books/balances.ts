/** Balances and transactions of an account in one mode. Reads never use Temporal. */
import { Semaphore } from 'async-mutex';
import { readBookkeeping } from '../../db/books/bookkeeping';
import { listBalances } from '../../db/ledger/ledger';
import { listSource } from '../../db/lists';
import { findTransaction, listTransactions } from '../../db/books/transactions';
import type { Db, Reader } from '../../db/transaction';
import { ApiError } from '../../domain/errors';
import type { Mode } from '../../domain/mode';
import { exportFile } from './exports';
import { reconcile } from './merchant-reconciliation';
import type { Balances } from '../../kit/service/services';

interface BalancesDeps {
  db: Db;
  shortStatements: Reader;
}

export function createBalances(deps: BalancesDeps): Balances {
  const pages = new Semaphore(1);
  return {
    list: ({ accountId, mode }) => listBalances(deps.shortStatements, accountId, mode),
    transactions: (caller, query) =>
      listTransactions(listSource(deps, query), { ...caller, ...query }),
    exportFile: async ({ accountId, mode }, request) => {
      const books = await readBookkeeping(deps.shortStatements, accountId);
      return exportFile(oneAtATime(deps.db, pages, mode), books, { accountId, mode, ...request });
    },
    reconcile: (caller, request) => reconcile(deps.db, caller, request),
    async transaction({ accountId, mode }, id) {
      const found = await findTransaction(deps.shortStatements, { accountId, mode, id });
      if (found !== null) return found;
      throw new ApiError({ code: 'not_found', details: { resource: 'transaction' } });
    },
  };
}

/**
 * The statements of exports run one at a time in a process, those of live mode first, so that files leave the
 * connections to others however many accounts fetch them.
 */
function oneAtATime(db: Db, pages: Semaphore, mode: Mode): Reader {
  const priority = mode === 'live' ? 1 : 0;
  return {
    query: (sql, values) => pages.runExclusive(() => db.query(sql, values), 1, priority),
    prepared: (sql, values) => pages.runExclusive(() => db.prepared(sql, values), 1, priority),
  };
}
