/**
 * Which payouts wait for an operator (decisions/payout-review): an account's switches and maximum amounts.
 */
import { saveAccount } from '../../db/repositories/accounts';
import { appendAudit } from '../../db/repositories/audit-log';
import { inTransaction, type Db, type Tx } from '../../db/transaction';
import { presentAccount } from '../../presenters/admin';
import { requireAccount, requireLockedAccount } from './accounts';
import type { AuditedObject, ChangedBy } from './audit';
import {
  auditOfPolicy,
  changePolicy,
  ownedMaximum,
  readPolicies,
  type OwnedMaximum,
} from './limits';
import { InvalidInput } from './refusal';

export interface ReviewInput {
  reviewAll: boolean | undefined;
  rehearse: boolean | undefined;
  maxima: {
    currency: string;
    /** As text: an amount, `none`, or `default` to follow the default. Undefined: unchanged. */
    autoApproveMax: string | undefined;
    autoApproveDailyMax: string | undefined;
  } | null;
}

export interface ReviewSettings {
  accountId: string | null;
  /** Null for the defaults, which have maximum amounts but no switches. */
  reviewAll: boolean | null;
  rehearse: boolean | null;
  maxima: { currency: string; autoApprove: OwnedMaximum; autoApproveDaily: OwnedMaximum }[];
}

/** Null as account: the defaults. @throws AdminRefusal */
export async function showReview(db: Db, accountId: string | null): Promise<ReviewSettings> {
  const account = accountId === null ? null : await requireAccount(db, accountId);
  const policies = await readPolicies(db, accountId);
  return {
    accountId,
    reviewAll: account?.reviewAll ?? null,
    rehearse: account?.rehearseReview ?? null,
    maxima: policies.map((policy) => ({
      currency: policy.currency,
      autoApprove: ownedMaximum(policy, 'autoApproveMax'),
      autoApproveDaily: ownedMaximum(policy, 'autoApproveDailyMax'),
    })),
  };
}

/** One audit row for the switches, one for the maxima. @throws InvalidInput, AdminRefusal */
export async function setReview(
  db: Db,
  by: ChangedBy,
  accountId: string | null,
  input: ReviewInput,
): Promise<ReviewSettings> {
  const { reviewAll, rehearse, maxima } = input;
  await inTransaction(db, async (tx) => {
    if (reviewAll !== undefined || rehearse !== undefined) {
      await appendAudit(tx, { ...by, ...(await applyReview(tx, accountId, input)) });
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

/** The switches of an account. @throws InvalidInput, AdminRefusal */
export async function applyReview(
  tx: Tx,
  accountId: string | null,
  { reviewAll, rehearse }: Pick<ReviewInput, 'reviewAll' | 'rehearse'>,
): Promise<AuditedObject> {
  if (accountId === null) {
    const field = reviewAll === undefined ? 'rehearse' : 'reviewAll';
    throw new InvalidInput(field, { code: 'needs_account' });
  }
  const account = await requireLockedAccount(tx, accountId);
  const changed = {
    ...account,
    reviewAll: reviewAll ?? account.reviewAll,
    rehearseReview: rehearse ?? account.rehearseReview,
  };
  await saveAccount(tx, changed);
  return {
    action: 'review.set',
    object: 'account',
    objectId: accountId,
    accountId,
    before: presentAccount(account),
    after: presentAccount(changed),
  };
}
