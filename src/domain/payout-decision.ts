/**
 * What an operator decides about a payout in the console, and what became of it. A decision is a row
 * that the console stores for a signed-in operator; the payout's workflow applies it once.
 */
import { mayDo, OPERATOR_ROLES } from './users';

/**
 * - `applied`: the payout was approved or rejected.
 * - `counted`: the first of two approvals.
 * - `already_decided`: somebody else, the merchant's cancel or a signal was first.
 * - `too_late`: the payout was already submitted to the provider.
 * - `same_operator`: the operator has given the first of two approvals.
 * - `key_creator`: the operator created or rotated the API key of a payout that needs two approvals.
 * - `related_operator`: the approvals of the two operators do not count together, see RELATED_OPERATORS.
 * - `not_allowed`: the operator was disabled or has no such role any more.
 * - `blocked`: the screening blocks the destination, so the payout was rejected instead of approved.
 * - `expired`: it did not reach the workflow in time.
 */
export const DECISION_OUTCOMES = [
  'applied',
  'counted',
  'already_decided',
  'too_late',
  'same_operator',
  'key_creator',
  'related_operator',
  'not_allowed',
  'blocked',
  'expired',
] as const;
export type DecisionOutcome = (typeof DECISION_OUTCOMES)[number];

/**
 * The sentence that says why the approvals of two operators count as one
 * (src/db/approvals/related-operators.ts).
 */
export const RELATED_OPERATORS =
  "one of you invited the other or proposed the other's role in the last 30 days, or only one of you is " +
  'linked to single sign-on';

export type DecisionKind = 'approve' | 'reject';

/** A payout above the threshold needs the approvals of this many different operators. */
export const APPROVALS_NEEDED = 2;

/** The roles of operators who may decide about payouts. */
export const REVIEWER_ROLES = OPERATOR_ROLES.filter((role) =>
  mayDo({ kind: 'operator', role }, 'review'),
);

/** An operator's decision as stored. */
export interface PayoutDecision {
  id: string;
  payoutId: string;
  kind: DecisionKind;
  userId: string;
  email: string;
  reason: string | null;
  /** Null until the workflow has applied the decision. */
  outcome: DecisionOutcome | null;
  createdAt: Date;
  decidedAt: Date | null;
}
