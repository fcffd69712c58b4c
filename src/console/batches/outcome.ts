/** What became of an operator's decision about a batch, as a sentence. */
import { APPROVALS_NEEDED, RELATED_OPERATORS } from '../../domain/payout-decision';
import type { BatchReview } from '../../services/batch-reviews';

const APPLIED = {
  approve: 'Approved. The rows are being sent.',
  reject: 'Rejected. The funds are being returned to the merchant.',
  stop: 'Stopped. The funds of the rows that wait are being returned.',
  leave_out: 'Left out. The funds of these rows were returned, and the manifest has another hash.',
};

export function outcomeText({ kind, outcome }: BatchReview['decisions'][number]): string {
  switch (outcome) {
    case null:
      return (
        'The workflow has not answered yet. Reload this page in a few seconds. ' +
        'After five minutes without an answer the decision has no effect.'
      );
    case 'applied':
      return APPLIED[kind];
    case 'counted':
      return `The approval is stored: 1 of ${APPROVALS_NEEDED}. A second operator must approve.`;
    case 'already_decided':
    case 'too_late':
      return 'The decision had no effect: the batch was already decided.';
    case 'other_manifest':
      return 'The decision had no effect: the batch has other rows than those on the page. Reload it.';
    case 'awaits_second_person':
      return 'The decision had no effect: another person of the merchant must approve the batch first.';
    case 'none_left':
      return 'The decision had no effect: at least one row must remain. Reject the batch instead.';
    case 'rows_changed':
      return 'The rows in the database differ from the manifest, so the batch was stopped and a case was opened.';
    case 'same_operator':
      return 'This operator has already approved the batch. A different one must approve it.';
    case 'key_creator':
      return 'Who created or rotated the API key, or requested the batch, cannot approve it.';
    case 'related_operator':
      return `The approval does not count with the first one: ${RELATED_OPERATORS}. Another operator must approve.`;
    case 'not_allowed':
      return 'The decision had no effect: the role does not allow it any more.';
    case 'expired':
      return 'The decision had no effect: it reached the workflow too late. Decide again.';
  }
}
