/** The decisions about a batch: approve, reject, stop. Each is one guarded change of its row. */
import { appendAudit } from '../../src/db/audit/audit-log';
import { appendEvent, type EventTx } from '../../src/db/webhooks/events';
import {
  BATCH_HAS_APPROVALS,
  findBatchDecision,
  noteBatchOutcome,
  type PayoutBatchDecision,
  readBatchDecider,
  reviewBatch,
} from '../../src/db/payout-batches/payout-batch-decisions';
import { readBatchProgress } from '../../src/db/payout-batches/payout-batch-rows';
import {
  endBatchEarly,
  getPayoutBatch,
  lockPayoutBatch,
  SECOND_PERSON_APPROVED,
  SECOND_PERSON_IS_LATE,
  takeBatchTransition,
} from '../../src/db/payout-batches/payout-batches';
import { databaseTime } from '../../src/db/database-time';
import type { Tx } from '../../src/db/transaction';
import { DECISION_VALID_MS } from '../../src/domain/decision-age';
import type { PayoutBatch, PayoutBatchEnding } from '../../src/domain/payout-batch';
import type { BatchDecideOutcome, PayoutBatchState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayoutBatch } from '../events';
import { auditSignal, signalFault } from '../signal-decisions';
import { leaveOut } from './leave-out';
import { reportBatch } from './report';

export interface BatchStep {
  applied: boolean;
  state: PayoutBatchState;
  /** A sentence that says why a signal had no effect, and what to do instead. */
  instead?: string;
}

/**
 * @param by the operator, or null when the delay ran out or the operator left no name
 * @param manifestSha256 the manifest that was approved: the batch must have exactly these rows
 * @param via absent: the delay ran out
 */
export async function approvePayoutBatch(
  deps: Pick<Deps, 'db' | 'webhookDeliveryStarter' | 'consoleUrl' | 'signalApprovalMax'>,
  batchId: string,
  by: string | null,
  manifestSha256: string,
  via?: 'signal',
): Promise<BatchStep> {
  return inEventTransaction(deps, batchId, async (tx) => {
    if (via === 'signal') {
      const { status, totals } = await lockPayoutBatch(tx, batchId);
      const isReviewed = status === 'under_review';
      const instead = isReviewed ? signalFault(deps, `batches/${batchId}`, totals) : null;
      if (instead !== null) return { ...(await stepOf(tx, batchId, null)), instead };
    }
    const approved = await approve(tx, batchId, by, manifestSha256);
    if (approved !== null && via === 'signal') await auditBatch(tx, approved, 'approve', by, null);
    if (approved === null) await reviewBatch(tx, batchId);
    return stepOf(tx, batchId, approved);
  });
}

/** Ends the batch early: from now on no row is released, and those that were not are returned. */
export async function endPayoutBatch(
  deps: Deps,
  batchId: string,
  ending: PayoutBatchEnding,
  by: string | null,
  reason: string | null,
  via?: 'signal',
): Promise<BatchStep> {
  return inEventTransaction(deps, batchId, async (tx) => {
    const ended = await endBatchEarly(tx, batchId, { ending, by, reason });
    if (ended !== null && via === 'signal') await auditBatch(tx, ended, ending, by, reason);
    return stepOf(tx, batchId, ended);
  });
}

function auditBatch(
  tx: Tx,
  { id, accountId, status }: PayoutBatch,
  verb: 'approve' | PayoutBatchEnding,
  by: string | null,
  reason: string | null,
): Promise<void> {
  return auditSignal(tx, { object: 'payout_batch', id, accountId, verb, by, status, reason });
}

const NOT_APPROVED_IN_TIME = 'No second person approved the batch in time.';

/** Returns the funds of a batch that no second person has approved in time. */
export async function checkSecondPerson(deps: Deps, batchId: string): Promise<PayoutBatchState> {
  return inEventTransaction(deps, batchId, async (tx) => {
    const late = { ending: 'stop', by: null, reason: NOT_APPROVED_IN_TIME } as const;
    const ended = await endBatchEarly(tx, batchId, late, SECOND_PERSON_IS_LATE);
    return (await stepOf(tx, batchId, ended)).state;
  });
}

/**
 * Applies a decision that the console stored for a signed-in operator. The batch's lock puts decisions
 * in order; a decision that has its outcome gets it again.
 */
export async function decidePayoutBatch(
  deps: Deps,
  batchId: string,
  decisionId: string,
): Promise<{ outcome: BatchDecideOutcome['kind']; state: PayoutBatchState }> {
  return inEventTransaction(deps, batchId, async (tx) => {
    const batch = await lockPayoutBatch(tx, batchId);
    const decision = await findBatchDecision(tx, decisionId);
    if (decision?.batchId !== batchId) {
      return { outcome: 'unknown', state: await reportBatch(tx, batch) };
    }
    const outcome = decision.outcome ?? (await decide(tx, batch, decision));
    if (decision.outcome === null) await noteBatchOutcome(tx, decisionId, outcome);
    return { outcome, state: await reportBatch(tx, await getPayoutBatch(tx, batchId)) };
  });
}

async function decide(
  tx: EventTx,
  batch: PayoutBatch,
  decision: PayoutBatchDecision,
): Promise<NonNullable<PayoutBatchDecision['outcome']>> {
  const { kind, email, reason } = decision;
  const ageMs = (await databaseTime(tx)).getTime() - decision.createdAt.getTime();
  if (ageMs > DECISION_VALID_MS) return 'expired';
  const decider = await readBatchDecider(tx, batch.id, decision.userId);
  if (!decider.mayReview) return 'not_allowed';
  if (kind === 'leave_out') return leaveOutRows(tx, batch, decision);
  if (kind !== 'approve') {
    const ended = await endBatchEarly(tx, batch.id, { ending: kind, by: email, reason });
    if (ended === null) return 'already_decided';
    await audit(tx, ended, decision);
    return 'applied';
  }
  if (decision.manifestSha256 !== batch.manifestSha256) return 'other_manifest';
  if (batch.awaitsSecondPerson) return 'awaits_second_person';
  if (decider.needsTwo && decider.hadKey) return 'key_creator';
  if (decider.needsTwo && decider.hasCounted) return 'same_operator';
  if (decider.needsTwo && decider.isRelated) return 'related_operator';
  // The approval is counted before the transition, whose guard counts the approvals.
  if (decider.needsTwo) await noteBatchOutcome(tx, decision.id, 'counted');
  const approved = await approve(tx, batch.id, email, decision.manifestSha256);
  if (approved !== null) {
    await audit(tx, approved, decision);
    return 'applied';
  }
  return decider.needsTwo ? 'counted' : 'already_decided';
}

async function leaveOutRows(
  tx: EventTx,
  batch: PayoutBatch,
  decision: PayoutBatchDecision,
): Promise<NonNullable<PayoutBatchDecision['outcome']>> {
  const { email: by, reason, rowNumbers } = decision;
  const why = { ending: 'reject', by, reason } as const;
  const outcome = await leaveOut(tx, batch, rowNumbers ?? [], why);
  if (outcome === 'invalid_state') return 'already_decided';
  if (outcome !== 'left_out') return outcome;
  await audit(tx, await getPayoutBatch(tx, batch.id), decision);
  return 'applied';
}

async function approve(
  tx: EventTx,
  batchId: string,
  by: string | null,
  manifestSha256: string,
): Promise<PayoutBatch | null> {
  const only = `ending IS NULL AND manifest_sha256 = ? AND ${BATCH_HAS_APPROVALS}
    AND ${SECOND_PERSON_APPROVED}`;
  const change = { approvedBy: by };
  const approved = await takeBatchTransition(tx, batchId, 'approve', change, only, [
    manifestSha256,
  ]);
  if (approved !== null) {
    const progress = await readBatchProgress(tx, batchId);
    appendEvent(tx, eventOfPayoutBatch(approved, progress));
  }
  return approved;
}

async function audit(tx: Tx, batch: PayoutBatch, decision: PayoutBatchDecision): Promise<void> {
  await appendAudit(tx, {
    actor: decision.email,
    via: 'console',
    action: `payout_batch.${decision.kind}`,
    object: 'payout_batch',
    objectId: batch.id,
    accountId: batch.accountId,
    before: null,
    after: {
      status: batch.status,
      manifest_sha256: batch.manifestSha256,
      ...(decision.rowNumbers === null ? {} : { left_out_rows: decision.rowNumbers }),
    },
    reason: decision.reason,
  });
}

async function stepOf(tx: Tx, batchId: string, changed: PayoutBatch | null): Promise<BatchStep> {
  const batch = changed ?? (await getPayoutBatch(tx, batchId));
  return { applied: changed !== null, state: await reportBatch(tx, batch) };
}
