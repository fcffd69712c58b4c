/** What the pages of the merchant dashboard read and change. src/deps.ts builds it. */
import { type Balance, listBalances } from '../db/repositories/ledger';
import type { Db } from '../db/transaction';
import type { Mode } from '../domain/mode';

export interface DashboardServices {
  balances: (accountId: string, mode: Mode) => Promise<Balance[]>;
}

export function createDashboardServices({ db }: { db: Db }): DashboardServices {
  return {
    balances: (accountId, mode) => listBalances(db, accountId, mode),
  };
}
