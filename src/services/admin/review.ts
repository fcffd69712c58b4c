/** What makes a payout wait for an operator (decision O2): an account's switches and maxima. */
import { saveAccount } from '../../db/repositories/accounts';
import { appendAudit } from '../../db/repositories/audit-log';
import type { Policy } from '../../db/repositories/payout-policies';
import { inTransaction, type Db, type Tx } from '../../db/transaction';
import { presentAccount, requireAccount, requireLockedAccount } from './accounts';
import type { ChangedBy } from './change';
import { auditOfPolicy, changePolicy, readPolicies } from './policies';
import { InvalidInput } from './refusal';

export interface ReviewInput {
  reviewAll: boolean | undefined;
  rehearse: boolean | undefined;
  maxima: {
    currency: string;
    /** As text: an amount, `none`, or `default` for everybody's. Undefined: as it is. */
    autoApproveMax: string | undefined;
    autoApproveDailyMax: string | undefined;
  } | null;
}

/** Null as account: the defaults, which have maxima and no switches. @throws AdminRefusal */
export async function showReview(db: Db, accountId: string | null) {
  const account = accountId === null ? null : await requireAccount(db, accountId);
  const policies = await readPolicies(db, accountId);
  return {
    object: 'review_settings',
    account_id: accountId,
    review_all: account?.reviewAll ?? null,
    rehearse: account?.rehearseReview ?? null,
    maxima: policies.map(presentMaxima),
  };
}

export type ShownReview = Awaited<ReturnType<typeof showReview>>;

/** One audit row for the switches, one for the maxima. @throws InvalidInput, AdminRefusal */
export async function setReview(
  db: Db,
  by: ChangedBy,
  accountId: string | null,
  input: ReviewInput,
): Promise<ShownReview> {
  const { reviewAll, rehearse, maxima } = input;
  await inTransaction(db, async (tx) => {
    if (reviewAll !== undefined || rehearse !== undefined) {
      await setSwitches(tx, by, accountId, input);
    }
    if (maxima === null) return;
    const scope = { accountId, currency: maxima.currency };
    const change = await changePolicy(tx, scope, {
      autoApproveMax: maxima.autoApproveMax,
      autoApproveDailyMax: maxima.autoApproveDailyMax,
    });
    await appendAudit(tx, { ...by, ...auditOfPolicy('review.set', scope, change) });
  });
  return showReview(db, accountId);
}

async function setSwitches(
  tx: Tx,
  by: ChangedBy,
  accountId: string | null,
  { reviewAll, rehearse }: ReviewInput,
): Promise<void> {
  if (accountId === null) {
    const field = reviewAll === undefined ? 'rehearse' : 'review-all';
    throw new InvalidInput(field, 'belongs to an account: it does not go with --default.');
  }
  const account = await requireLockedAccount(tx, accountId);
  const changed = {
    ...account,
    reviewAll: reviewAll ?? account.reviewAll,
    rehearseReview: rehearse ?? account.rehearseReview,
  };
  await saveAccount(tx, changed);
  await appendAudit(tx, {
    ...by,
    action: 'review.set',
    object: 'account',
    objectId: accountId,
    accountId,
    before: presentAccount(account),
    after: presentAccount(changed),
  });
}

function presentMaxima(policy: Policy) {
  const source = (name: 'autoApproveMax' | 'autoApproveDailyMax') =>
    policy.fromDefault.includes(name) ? 'default' : 'account';
  return {
    currency: policy.currency,
    auto_approve_max: policy.autoApproveMax,
    auto_approve_max_from: source('autoApproveMax'),
    auto_approve_daily_max: policy.autoApproveDailyMax,
    auto_approve_daily_max_from: source('autoApproveDailyMax'),
  };
}
