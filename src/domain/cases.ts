/**
 * The kinds of case: what the gateway cannot explain and does not correct by itself. An operator
 * decides.
 */
export const DIFFERENCE_KINDS = [
  'unknown_transfer',
  'transfer_mismatch',
  'sent_twice',
  'completed_but_not_sent',
  'sent_after_return_of_funds',
  'pending_after_return_of_funds',
  'sent_but_not_completed',
  'money_without_payment',
  'money_not_credited',
  'credited_but_not_received',
  'credit_mismatch',
  'refund_not_recorded',
  'refund_mismatch',
] as const;

/** Found by comparing a provider's statement with ours (src/db/books/reconciliation-differences.ts). */
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** All kinds of case; docs/operations.md, "Cases", says what to do about each. */
export const CASE_KINDS = [
  'ledger_broken',
  'ledger_not_checked',
  ...DIFFERENCE_KINDS,
  'batch_changed',
  'checkout_mismatch',
  'checkout_missing',
  'foreign_workflow',
  'late_money_held',
  'recipient_blocked',
  'recipient_review',
  'refund_exceeds_credit',
  'refund_not_covered',
  'rejected_not_sent_back',
  'row_missing',
  'screening_blocked',
  'screening_review',
] as const;

export type CaseKind = (typeof CASE_KINDS)[number];
