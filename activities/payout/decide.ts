/** The steps of a payout that involve no provider: approve (by two people above a threshold), reject, cancel. */
import { appendAudit } from '../../src/db/audit/audit-log';
import type { EventTx } from '../../src/db/webhooks/events';
import {
  ABOVE_THRESHOLD,
  findDecision,
  HAS_APPROVALS,
  lockPayout,
  NEEDS_REVIEW,
  noteOutcome,
  readDecider,
  readFourEyes,
} from '../../src/db/payouts/payout-decisions';
import { getPayout } from '../../src/db/payouts/payouts';
import { IS_BLOCKED } from '../../src/db/screening/screening';
import { databaseTime } from '../../src/db/database-time';
import type { Tx } from '../../src/db/transaction';
import { DECISION_VALID_MS } from '../../src/domain/decision-age';
import { returnPosting } from '../../src/domain/ledger';
import {
  DEFAULT_REJECTION_REASON,
  isFinalPayout,
  isWaitingForConditions,
  nextPayoutStatus,
  type Payout,
  payoutStatusesBefore,
} from '../../src/domain/payout';
import type { DecisionOutcome, PayoutDecision } from '../../src/domain/payout-decision';
import type { DecideOutcome, PayoutState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { auditSignal, signalFault } from '../signal-decisions';
import { reportReviewed } from './report';
import { blockedRejection } from './screen';
import { applyTransition, transitionIn, type Transition } from './transition';

export interface StepResult {
  applied: boolean;
  state: PayoutState;
  /** A sentence that says why a signal had no effect, and what to do instead. */
  instead?: string;
}

/**
 * Approves a payout, or rejects it if its screening blocks it. One that needs two approvals stays under
 * review, because the name in a signal is only claimed. One that waits for its conditions is `requested` afterwards.
 * @param by the operator, or null when the delay ran out or the operator left no name
 * @param via absent: the delay ran out
 */
export async function approvePayout(
  deps: Deps,
  payoutId: string,
  by: string | null,
  via?: 'signal',
): Promise<StepResult> {
  if (via === 'signal' && deps.signalApprovalMax !== undefined) {
    const payout = await getPayout(deps.db, payoutId);
    const isReviewed = payout.status === 'under_review';
    const instead = isReviewed ? signalFault(deps, `payouts/${payoutId}`, [payout]) : null;
    if (instead !== null) {
      return { applied: false, state: await reportReviewed(deps.db, payout), instead };
    }
  }
  const also = via === undefined ? {} : { also: audited(payoutId, 'approve', by, null) };
  const transition = { ...approval(by), ...also };
  const approved = await step(deps, payoutId, transition);
  const { applied, state } = approved;
  if (applied || !APPROVABLE.includes(state.status)) return approved;
  if (state.mode === 'live') {
    const blocked = await step(deps, payoutId, blockedRejection(payoutId));
    if (blocked.applied) return blocked;
  }
  const reviewed = await step(deps, payoutId, review(state));
  if (reviewed.applied) return { ...reviewed, applied: false };
  return state.waiting === undefined
    ? approved
    : step(deps, payoutId, { ...transition, trigger: 'clear' });
}

const APPROVABLE: readonly string[] = payoutStatusesBefore('approve');

/**
 * Rejects a payout, for a signal, before anything was submitted. After that, money may be on its way
 * (decisions/payouts#payout-statuses).
 */
export async function rejectPayout(
  deps: Deps,
  payoutId: string,
  by: string | null,
  reason: string | null,
): Promise<StepResult> {
  const also = audited(payoutId, 'reject', by, reason);
  return step(deps, payoutId, { ...rejection(by, reason), also });
}

function audited(id: string, verb: 'approve' | 'reject', by: string | null, reason: string | null) {
  return async (tx: Tx): Promise<void> => {
    const { accountId, status } = await getPayout(tx, id);
    await auditSignal(tx, { object: 'payout', id, accountId, verb, by, status, reason });
  };
}

function approval(by: string | null): Transition {
  return {
    trigger: 'approve',
    only: `${HAS_APPROVALS} AND NOT ${IS_BLOCKED}`,
    change: { decidedBy: by },
  };
}

/** A threshold was lowered below the amount after the payout was requested. */
export function review({ reviewReasons }: Pick<Payout, 'reviewReasons'>): Transition {
  return {
    trigger: 'review',
    only: NEEDS_REVIEW,
    change: { reviewReasons: [...reviewReasons, ABOVE_THRESHOLD] },
  };
}

function rejection(by: string | null, reason: string | null): Transition {
  return {
    trigger: 'reject',
    only: 'submission_started_at IS NULL',
    change: { decidedBy: by, rejectionReason: reason ?? DEFAULT_REJECTION_REASON },
    posting: returnPosting,
  };
}

/**
 * Cancels a payout for a merchant's request.
 * @param by the request's id: the same request run again gets the first result, another one finds the
 *   payout cancelled already (decisions/payouts#payout-cancel)
 */
export async function cancelPayout(deps: Deps, payoutId: string, by: string): Promise<StepResult> {
  const transition = {
    trigger: 'cancel',
    change: { decidedBy: by },
    posting: returnPosting,
  } as const;
  const { applied, payout } = await applyTransition(deps, payoutId, transition);
  const appliedBefore = payout.status === 'cancelled' && payout.decidedBy === by;
  return { applied: applied || appliedBefore, state: await reportReviewed(deps.db, payout) };
}

async function step(deps: Deps, payoutId: string, transition: Transition): Promise<StepResult> {
  const { applied, payout } = await applyTransition(deps, payoutId, transition);
  return { applied, state: await reportReviewed(deps.db, payout) };
}

/**
 * Applies a decision that the console stored for a signed-in operator. The payout's lock puts
 * decisions in order; a decision that has its outcome gets it again.
 */
export async function decidePayout(
  deps: Deps,
  payoutId: string,
  decisionId: string,
): Promise<{ outcome: DecideOutcome['kind']; state: PayoutState }> {
  return inEventTransaction(deps, payoutId, async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    const decision = await findDecision(tx, decisionId);
    if (decision?.payoutId !== payoutId) {
      return { outcome: 'unknown', state: await reportReviewed(tx, payout) };
    }
    if (decision.outcome !== null) {
      return { outcome: decision.outcome, state: await reportReviewed(tx, payout) };
    }
    const { outcome, payout: after } = await decide(tx, payout, decision);
    await noteOutcome(tx, decisionId, outcome);
    return { outcome, state: await reportReviewed(tx, after) };
  });
}

interface Decided {
  outcome: DecisionOutcome;
  payout: Payout;
}

async function decide(tx: EventTx, payout: Payout, decision: PayoutDecision): Promise<Decided> {
  const refused = (outcome: DecisionOutcome): Decided => ({ outcome, payout });
  const { kind, userId } = decision;
  const ageMs = (await databaseTime(tx)).getTime() - decision.createdAt.getTime();
  if (ageMs > DECISION_VALID_MS) return refused('expired');
  const decider = await readDecider(tx, payout.id, userId);
  if (!decider.mayReview) return refused('not_allowed');
  if (payout.submissionStartedAt !== null && !isFinalPayout(payout.status)) {
    return refused('too_late');
  }
  if (nextPayoutStatus(payout.status, kind) === undefined) return refused('already_decided');
  if (kind === 'reject') {
    const rejected = await take(tx, decision, rejection(decision.email, decision.reason));
    return rejected === null
      ? refused('already_decided')
      : { outcome: 'applied', payout: rejected };
  }
  // An operator's approval does not replace a condition.
  if (isWaitingForConditions(payout)) return refused('already_decided');
  if (payout.mode === 'live') {
    const blocked = await transitionIn(tx, payout.id, blockedRejection(payout.id));
    if (blocked !== null) return { outcome: 'blocked', payout: blocked };
  }
  const mayNeedTwo = payout.mode === 'live' || payout.status === 'under_review';
  const needsTwo = mayNeedTwo && (await readFourEyes(tx, payout.id)) !== null;
  if (needsTwo && decider.hadKey) return refused('key_creator');
  if (needsTwo && decider.hasCounted) return refused('same_operator');
  if (needsTwo && decider.relatedTo !== null) return refused('related_operator');
  // The approval is counted before the transition, whose guard counts the approvals.
  if (needsTwo) await noteOutcome(tx, decision.id, 'counted');
  const transition = approval(decision.email);
  const approved =
    (await take(tx, decision, transition)) ??
    (payout.awaitsRelease === true
      ? await take(tx, decision, { ...transition, trigger: 'clear' })
      : null);
  if (approved !== null) return { outcome: 'applied', payout: approved };
  // A threshold that was set meanwhile counts as well.
  return refused(decider.hasCounted ? 'same_operator' : 'counted');
}

async function take(
  tx: EventTx,
  { payoutId, kind, email, reason }: PayoutDecision,
  transition: Transition,
): Promise<Payout | null> {
  const payout = await transitionIn(tx, payoutId, transition);
  if (payout === null) return null;
  await appendAudit(tx, {
    actor: email,
    via: 'console',
    action: `payout.${kind}`,
    object: 'payout',
    objectId: payoutId,
    accountId: payout.accountId,
    before: null,
    after: { status: payout.status },
    reason,
  });
  return payout;
}
