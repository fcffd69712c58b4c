/** What became of an operator's decision, as a sentence: worded from the payout as it is now. */
import { isFinalPayout } from '../../../domain/payout';
import {
  APPROVALS_NEEDED,
  type PayoutDecision,
  RELATED_OPERATORS,
} from '../../../domain/payout-decision';
import { BLOCKED_BY } from '../../../domain/screening';
import type { ReviewedPayout } from '../payout-reviews';

type Decided = Pick<
  ReviewedPayout,
  'status' | 'heldFor' | 'decidedBy' | 'submissionStartedAt' | 'failureReason'
>;

export interface DecisionText {
  tone: 'good' | 'wait' | 'bad';
  title: string;
}

const good = (title: string): DecisionText => ({ tone: 'good', title });
const wait = (title: string): DecisionText => ({ tone: 'wait', title });
const bad = (title: string): DecisionText => ({ tone: 'bad', title });

export function outcomeText(
  { kind, outcome }: Pick<PayoutDecision, 'kind' | 'outcome'>,
  payout: Decided,
): DecisionText {
  switch (outcome) {
    case null:
      return wait(
        'The workflow has not answered yet. This page updates automatically. ' +
          'After five minutes without an answer the decision has no effect.',
      );
    case 'applied':
      return kind === 'approve'
        ? approvedText(payout)
        : good('Rejected. The funds were returned to the merchant.');
    case 'counted':
      return payout.status === 'under_review'
        ? good(`Your approval is stored: 1 of ${APPROVALS_NEEDED}. A second operator must approve.`)
        : approvedText(payout);
    case 'already_decided':
      return bad('Your decision had no effect: the payout was already decided.');
    case 'too_late':
      return bad('Your decision had no effect: the payout was already submitted to the provider.');
    case 'same_operator':
      return bad('You have already approved this payout. A different operator must approve it.');
    case 'key_creator':
      return bad(
        'You created or rotated the API key, or requested the payout, so you cannot approve it.',
      );
    case 'related_operator':
      return bad(
        `Your approval does not count with the first one: ${RELATED_OPERATORS}. Another operator must approve.`,
      );
    case 'not_allowed':
      return bad('Your decision had no effect: your role does not allow it any more.');
    case 'blocked':
      return bad(
        'The screening blocks the destination, so the payout was rejected instead of approved. The funds were returned to the merchant.',
      );
    case 'expired':
      return bad('Your decision had no effect: it reached the workflow too late. Decide again.');
  }
}

/** Where a payout is that an operator has approved or allowed. */
export function approvedText(payout: Decided, did = 'Approved'): DecisionText {
  const { status, heldFor, submissionStartedAt } = payout;
  if (isFinalPayout(status) && status !== 'completed') {
    return bad(`${did}, but ${endText(payout)} The funds were returned to the merchant.`);
  }
  if (status === 'under_review') return wait('The payout is still under review.');
  if (status === 'requested') return wait(`${did}. The payout waits for its conditions.`);
  if (status === 'processing') return good(`${did}. The provider has accepted the payout.`);
  if (status === 'completed') return good(`${did}. The payout was sent.`);
  if (heldFor === 'review') {
    return wait(`${did}. The payout is held until an operator allows what the screening found.`);
  }
  if (heldFor === 'no_answer') return wait(`${did}. The payout waits for the screening’s answer.`);
  return submissionStartedAt === null
    ? good(`${did}. The payout is submitted next, unless payouts are paused.`)
    : good(`${did}. The payout is being submitted to the provider.`);
}

function endText({ status, decidedBy, failureReason }: Decided): string {
  if (status === 'failed') return `the payout failed: ${failureReason ?? 'no reason was given.'}`;
  if (status !== 'rejected') return `the payout was ${status}.`;
  return decidedBy === BLOCKED_BY
    ? 'the screening then blocked the destination.'
    : `the payout was then rejected by ${decidedBy ?? 'a signal without a name'}.`;
}
