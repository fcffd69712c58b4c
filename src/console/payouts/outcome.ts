/** What became of an operator's decision, as a sentence. */
import {
  APPROVALS_NEEDED,
  type PayoutDecision,
  RELATED_OPERATORS,
} from '../../domain/payout-decision';

export function outcomeText({ kind, outcome }: PayoutDecision): string {
  switch (outcome) {
    case null:
      return (
        'The workflow has not answered yet. Reload this page in a few seconds. ' +
        'After five minutes without an answer the decision has no effect.'
      );
    case 'applied':
      return kind === 'approve'
        ? 'Approved. The payout is being sent.'
        : 'Rejected. The funds were returned to the merchant.';
    case 'counted':
      return `Your approval is stored: 1 of ${APPROVALS_NEEDED}. A second operator must approve.`;
    case 'already_decided':
      return 'Your decision had no effect: the payout was already decided.';
    case 'too_late':
      return 'Your decision had no effect: the payout was already submitted to the provider.';
    case 'same_operator':
      return 'You have already approved this payout. A different operator must approve it.';
    case 'key_creator':
      return 'You created or rotated the API key, or requested the payout, so you cannot approve it.';
    case 'related_operator':
      return `Your approval does not count with the first one: ${RELATED_OPERATORS}. Another operator must approve.`;
    case 'not_allowed':
      return 'Your decision had no effect: your role does not allow it any more.';
    case 'expired':
      return 'Your decision had no effect: it reached the workflow too late. Decide again.';
  }
}
