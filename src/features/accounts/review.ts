/**
 * Which payouts wait for an operator (decisions/controls#payout-review): an account's switches and maximum amounts.
 */
import { Type } from 'typebox';
import type { PolicyScope } from '../../db/accounts/payout-policies';
import type { Db } from '../../db/transaction';
import { changeAccount, requireAccount } from './accounts';
import type { ChangedBy } from '../../kit/service/audit';
import { InvalidInput } from '../../kit/service/refusal';
import { Choice, defineChange, type InputOf } from '../../kit/service/change';
import { changePolicy, maximumField, ownedMaximum, readPolicies } from './limits';

const access = { needs: 'administer' } as const;

/** The switches of an account; an omitted one stays unchanged. */
export const switchReview = defineChange({
  action: 'review.set',
  access,
  fields: {
    reviewAll: Type.Optional(
      Choice(
        [
          ['on', 'All wait for review'],
          ['off', 'By the rules'],
        ],
        { label: 'Live payouts', value: 'SWITCH' },
      ),
    ),
    rehearse: Type.Optional(
      Choice(
        [
          ['off', 'No review'],
          ['on', 'All wait for review'],
        ],
        { label: 'Test payouts', value: 'SWITCH' },
      ),
    ),
  },
  run: async (tx, accountId: string | null, { reviewAll, rehearse }) => {
    if (accountId === null) {
      const field = reviewAll === undefined ? 'rehearse' : 'reviewAll';
      throw new InvalidInput(field, { code: 'needs_account' });
    }
    return changeAccount(tx, accountId, (account) => ({
      reviewAll: reviewAll === undefined ? account.reviewAll : reviewAll === 'on',
      rehearseReview: rehearse === undefined ? account.rehearseReview : rehearse === 'on',
    }));
  },
});

/** The maximum amounts without review. */
export const setReviewMaxima = defineChange({
  action: 'review.set',
  access,
  fields: {
    autoApproveMax: maximumField('Without review, per payout'),
    autoApproveDailyMax: maximumField('Without review, per 24 hours'),
  },
  run: (tx, scope: PolicyScope, maxima) => changePolicy(tx, scope, maxima),
});

/** Null as account: the defaults. @throws AdminRefusal */
export async function showReview(db: Db, accountId: string | null) {
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

/** Both in one transaction, each with its audit row. @throws InvalidInput, AdminRefusal */
export async function setReview(
  db: Db,
  by: ChangedBy,
  accountId: string | null,
  switches: InputOf<typeof switchReview> | null,
  ofCurrency: { currency: string; maxima: InputOf<typeof setReviewMaxima> } | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (switches !== null) await switchReview.makeIn(tx, by, accountId, switches);
    if (ofCurrency === null) return;
    const { currency, maxima } = ofCurrency;
    await setReviewMaxima.makeIn(tx, by, { accountId, currency }, maxima);
  });
}
