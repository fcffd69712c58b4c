/** Balances and transactions of an account in one mode. Reads never use Temporal. */
import { listBalances } from '../db/repositories/ledger';
import { listSource } from '../db/repositories/lists';
import { findTransaction, listTransactions } from '../db/repositories/transactions';
import type { Db, Reader } from '../db/transaction';
import { ApiError } from '../domain/errors';
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
    async transaction({ accountId, mode }, id) {
      const found = await findTransaction(deps.shortStatements, { accountId, mode, id });
      if (found !== null) return found;
      throw new ApiError({ code: 'not_found', details: { resource: 'transaction' } });
    },
  };
}
