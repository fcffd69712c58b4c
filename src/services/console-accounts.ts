/** Accounts, their limits, fees and review policy, with the history of changes and what is proposed. */
import { type Account, type AccountFilters, listAccountsPage } from '../db/repositories/accounts';
import { type AuditEntry, listAudit } from '../db/repositories/audit-log';
import type { ListPage } from '../db/repositories/lists';
import type { Db } from '../db/transaction';
import {
  type AccountOverview,
  reinstateAccount,
  showAccount,
  suspendAccount,
  verifyAccount,
} from './admin/accounts';
import type { ChangedBy } from './admin/audit';
import { type Limits, listLimits } from './admin/limits';
import { type ReviewSettings, showReview } from './admin/review';
import { listFees } from './fees';
import type { PolicyProposal, PolicyProposals } from './policy-proposals';
import type { ListPosition } from './services';

export type { Account } from '../db/repositories/accounts';
export type { AuditEntry } from '../db/repositories/audit-log';

export interface AccountPolicies {
  limits: Limits[];
  review: ReviewSettings;
  /** The account's own rules and the defaults, in force and planned. */
  fees: Awaited<ReturnType<typeof listFees>>;
}

export interface AccountDetail extends AccountOverview, AccountPolicies {
  /** The newest changes. */
  history: AuditEntry[];
  /** Changes that wait for another admin. */
  proposed: PolicyProposal[];
  hasSecondAdmin: boolean;
}

/** @throws AdminRefusal, InvalidInput */
export interface ConsoleAccounts {
  list: (query: {
    limit: number;
    after: ListPosition | null;
    filters: AccountFilters;
  }) => Promise<ListPage<Account>>;
  get: (id: string) => Promise<AccountDetail>;
  verify: (by: ChangedBy, id: string) => Promise<Account>;
  suspend: (by: ChangedBy, id: string) => Promise<Account>;
  reinstate: (by: ChangedBy, id: string) => Promise<Account>;
}

const HISTORY_SHOWN = 10;

export function createConsoleAccounts(db: Db, proposals: PolicyProposals): ConsoleAccounts {
  return {
    list: (query) => listAccountsPage(db, query),
    get: async (id) => {
      const overview = await showAccount(db, id);
      const [limits, review, fees, history, proposed, hasSecondAdmin] = await Promise.all([
        listLimits(db, id),
        showReview(db, id),
        listFees(db, id, false),
        listAudit(db, { accountId: id, limit: HISTORY_SHOWN }),
        proposals.list(id),
        proposals.hasSecondAdmin(),
      ]);
      return { ...overview, limits, review, fees, history, proposed, hasSecondAdmin };
    },
    verify: (by, id) => verifyAccount(db, by, id),
    suspend: (by, id) => suspendAccount(db, by, id),
    reinstate: (by, id) => reinstateAccount(db, by, id),
  };
}
