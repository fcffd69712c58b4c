/** What became of an operator's decision about a batch, as a sentence: worded from the batch as it is now. */
import { APPROVALS_NEEDED, RELATED_OPERATORS } from '../../../domain/payout-decision';
import type { BatchReview } from '../batch-reviews';

type Decided = Pick<BatchReview['batch'], 'status' | 'ending'>;

function appliedText(kind: Decision['kind'], { status, ending }: Decided): string {
  const isOpen = status === 'requested' || status === 'under_review' || status === 'processing';
  switch (kind) {
    case 'approve':
      if (ending === 'stop' || status === 'stopped') return 'Approved, and stopped afterwards.';
      if (status === 'completed') return 'Approved. Every row was sent.';
      if (status === 'partially_completed') return 'Approved. Not every row was sent.';
      return 'Approved. The rows are being sent.';
    case 'reject':
      return `Rejected. The funds ${isOpen ? 'are being' : 'were'} returned to the merchant.`;
    case 'stop':
      return `Stopped. The funds of the rows that were not sent ${isOpen ? 'are being' : 'were'} returned.`;
    case 'leave_out':
      return 'Left out. The funds of these rows were returned, and the manifest has another hash.';
  }
}

type Decision = BatchReview['decisions'][number];

export function outcomeText({ kind, outcome }: Decision, batch: Decided): string {
  switch (outcome) {
    case null:
      return (
        'The workflow has not answered yet. This page updates automatically. ' +
        'After five minutes without an answer the decision has no effect.'
      );
    case 'applied':
      return appliedText(kind, batch);
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
