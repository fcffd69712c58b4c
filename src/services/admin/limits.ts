/** Payout limits (decision O9): the most for one payout, and for a rolling 24 hours. */
import type { Policy, PolicyScope } from '../../db/repositories/payout-policies';
import type { Db } from '../../db/transaction';
import { makeChange, type ChangedBy } from './change';
import { auditOfPolicy, changePolicy, readPolicies } from './policies';

/** As text: an amount, `none` for no limit, `default` for everybody's. Undefined: as it is. */
export interface LimitsInput {
  perTransaction: string | undefined;
  daily: string | undefined;
}

function presentLimits(accountId: string | null, policy: Policy) {
  const source = (name: 'perTransactionMax' | 'dailyMax') =>
    policy.fromDefault.includes(name) ? 'default' : 'account';
  return {
    object: 'payout_limits',
    account_id: accountId,
    currency: policy.currency,
    per_transaction: policy.perTransactionMax,
    per_transaction_from: source('perTransactionMax'),
    daily: policy.dailyMax,
    daily_from: source('dailyMax'),
  };
}

export type ShownLimits = ReturnType<typeof presentLimits>;

/** Null as account: the defaults. @throws AdminRefusal */
export async function listLimits(db: Db, accountId: string | null): Promise<ShownLimits[]> {
  return (await readPolicies(db, accountId)).map((policy) => presentLimits(accountId, policy));
}

/** @throws InvalidInput, AdminRefusal */
export async function setLimits(
  db: Db,
  by: ChangedBy,
  scope: PolicyScope,
  limits: LimitsInput,
): Promise<ShownLimits> {
  return makeChange(db, by, async (tx) => {
    const change = await changePolicy(tx, scope, {
      perTransactionMax: limits.perTransaction,
      dailyMax: limits.daily,
    });
    return {
      result: presentLimits(scope.accountId, change.after),
      audit: auditOfPolicy('limits.set', scope, change),
    };
  });
}

/** An account follows the default again; the default itself has no limit from then on. */
export async function unsetLimits(
  db: Db,
  by: ChangedBy,
  scope: PolicyScope,
  which: { perTransaction: boolean; daily: boolean },
): Promise<ShownLimits> {
  const gone = scope.accountId === null ? 'none' : 'default';
  return makeChange(db, by, async (tx) => {
    const change = await changePolicy(tx, scope, {
      perTransactionMax: which.perTransaction ? gone : undefined,
      dailyMax: which.daily ? gone : undefined,
    });
    return {
      result: presentLimits(scope.accountId, change.after),
      audit: auditOfPolicy('limits.unset', scope, change),
    };
  });
}
