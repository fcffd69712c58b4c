/** Accounts, their limits, fees and review policy, with the history of changes. */
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
import { type ChangedBy, makeChange } from './admin/audit';
import { endFee, listFees, type NewFeeRule, setFee } from './admin/fees';
import {
  auditOfPolicy,
  changePolicy,
  type Limits,
  type LimitsInput,
  listLimits,
} from './admin/limits';
import { type ReviewInput, type ReviewSettings, setReview, showReview } from './admin/review';
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
}

type FeeScopeOf = Omit<NewFeeRule['scope'], 'accountId'>;

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
  /** Limits, and what may pass without review, in one change. */
  setPolicy: (
    by: ChangedBy,
    id: string,
    currency: string,
    policy: LimitsInput & Record<'autoApproveMax' | 'autoApproveDailyMax', string>,
  ) => Promise<void>;
  setReview: (by: ChangedBy, id: string, review: ReviewInput) => Promise<ReviewSettings>;
  setFee: (
    by: ChangedBy,
    id: string,
    scope: FeeScopeOf,
    terms: NewFeeRule['terms'],
  ) => Promise<unknown>;
  endFee: (by: ChangedBy, id: string, scope: FeeScopeOf) => Promise<unknown>;
}

const HISTORY_SHOWN = 10;

export function createConsoleAccounts(db: Db): ConsoleAccounts {
  return {
    list: (query) => listAccountsPage(db, query),
    get: async (id) => {
      const overview = await showAccount(db, id);
      const [limits, review, fees, history] = await Promise.all([
        listLimits(db, id),
        showReview(db, id),
        listFees(db, id, false),
        listAudit(db, { accountId: id, limit: HISTORY_SHOWN }),
      ]);
      return { ...overview, limits, review, fees, history };
    },
    verify: (by, id) => verifyAccount(db, by, id),
    suspend: (by, id) => suspendAccount(db, by, id),
    reinstate: (by, id) => reinstateAccount(db, by, id),
    setPolicy: (by, accountId, currency, { perTransaction, daily, ...autoApprove }) =>
      makeChange(db, by, async (tx) => {
        const scope = { accountId, currency };
        const maxima = { perTransactionMax: perTransaction, dailyMax: daily, ...autoApprove };
        const change = await changePolicy(tx, scope, maxima);
        return { result: undefined, audit: auditOfPolicy('limits.set', scope, change) };
      }),
    setReview: (by, id, review) => setReview(db, by, id, review),
    setFee: (by, accountId, scope, terms) =>
      setFee(db, by, { scope: { accountId, ...scope }, terms, from: null, until: null }),
    endFee: (by, accountId, scope) => endFee(db, by, { accountId, ...scope }, null),
  };
}
