/**
 * An operator's decision about one payment: signals the payment's workflow, starting it if it has
 * completed, and waits for the outcome.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseTime } from '../../db/database-time';
import { appendAudit } from '../../db/audit/audit-log';
import { findDecision, type StoredDecision } from '../../db/payments/payment-decisions';
import { findRefund } from '../../db/payments/payment-refunds';
import { findPayment } from '../../db/payments/payments';
import type { Db } from '../../db/transaction';
import type { Payment, PaymentDecisionKind, PaymentStatus } from '../../domain/payment';
import type { Closed, NoAnswer, Sent } from '../../temporal/client';
import { newId } from '../../platform/lib/new-id';
import { type PaymentWorkflows, paymentStart } from '../../temporal/payment-workflows';
import type { ChangedBy } from '../../kit/service/audit';
import { checkText, positiveAmount } from '../../kit/service/checks';
import { AdminRefusal } from '../../kit/service/refusal';

const ID_LENGTH_MAX = 100;

/** How long the command waits: a worker records a decision at once, but the provider may need longer. */
const PATIENCE_MS = 15_000;
const ASK_EVERY_MS = 200;

export interface PaymentDecisionInput {
  paymentId: string;
  kind: PaymentDecisionKind;
  /** The caller chooses it before the first attempt; a repeated id counts once. */
  id: string;
  /** Only for a refund, as text; null means everything that remains. */
  amount: string | null;
}

export interface PaymentsDeps {
  db: Db;
  paymentWorkflows: PaymentWorkflows;
  /** How long the caller waits for the outcome. */
  patienceMs?: number;
}

/** Thrown when the outcome is unknown, because Temporal or the workers did not answer in time. */
export class UnclearDecision extends Error {}

export interface PaymentDecisionResult extends Pick<StoredDecision, 'id' | 'kind' | 'amount'> {
  /** `pending` while the provider has not answered. */
  state: 'pending' | 'accepted';
  payment: Payment;
}

/**
 * @throws InvalidInput; AdminRefusal when it was refused; Error when the outcome is unknown, and
 *   the same decision can be sent again
 */
export async function decideAboutPayment(
  { db, paymentWorkflows, patienceMs = PATIENCE_MS }: PaymentsDeps,
  by: ChangedBy,
  input: PaymentDecisionInput,
): Promise<PaymentDecisionResult> {
  const { paymentId, kind } = input;
  const id = checkText('operationId', input.id, ID_LENGTH_MAX);
  const amount = input.amount === null ? null : positiveAmount('amount', input.amount);
  const payment = await findPayment(db, paymentId);
  if (payment === null) {
    throw new AdminRefusal({ code: 'not_found', object: 'payment', id: paymentId });
  }
  const recorded = await findDecision(db, paymentId, id);
  if (recorded === null) await noteInAudit(db, by, payment, { id, kind, amount });
  // A decision that has ended is not sent again: the next one would find it in its way.
  if (recorded === null || recorded.state === 'pending') {
    const sentAt = (await databaseTime(db)).toISOString();
    const decision = { id, kind, by: by.actor, reason: by.reason, amount, sentAt };
    requireSent(await paymentWorkflows.decide(paymentStart(payment), decision));
  }
  const taken = await waitForEnd(db, paymentId, id, patienceMs);
  if (taken === null) throw new UnclearDecision('No worker has recorded the decision yet.');
  const { state, refusal } = taken;
  if (state === 'refused') {
    const explanation = refusal ?? '';
    throw new AdminRefusal({ code: 'payment_decision_refused', kind, explanation });
  }
  return {
    id,
    kind: taken.kind,
    amount: taken.amount,
    state,
    payment: (await findPayment(db, paymentId)) ?? payment,
  };
}

/**
 * Wakes the payment's workflow, which asks the provider.
 * @returns the payment's status before that
 * @throws AdminRefusal when it does not exist; Error when Temporal did not accept the signal
 */
export async function lookAtPayment(
  { db, paymentWorkflows }: PaymentsDeps,
  paymentId: string,
): Promise<PaymentStatus> {
  const payment = await findPayment(db, paymentId);
  if (payment === null) {
    throw new AdminRefusal({ code: 'not_found', object: 'payment', id: paymentId });
  }
  const sent = await paymentWorkflows.sendProviderUpdate(paymentStart(payment));
  requireSent(sent);
  return payment.status;
}

/**
 * Takes back a refund that waits for an address or a second person.
 * @throws AdminRefusal; Error when the outcome is unknown
 */
export async function cancelRefund(
  { db, paymentWorkflows, patienceMs = PATIENCE_MS }: PaymentsDeps,
  by: ChangedBy,
  refundId: string,
): Promise<void> {
  const refund = await findRefund(db, refundId);
  const payment = refund === null ? null : await findPayment(db, refund.paymentId);
  if (refund === null || payment === null) {
    throw new AdminRefusal({ code: 'not_found', object: 'refund', id: refundId });
  }
  await db.transaction((tx) =>
    appendAudit(tx, {
      ...by,
      action: 'refund.cancel',
      object: 'refund',
      objectId: refundId,
      accountId: refund.accountId,
      before: { state: refund.state },
      after: null,
    }),
  );
  const request = newId('request');
  const outcome = await paymentWorkflows.withdraw(
    paymentStart(payment),
    refundId,
    request,
    patienceMs,
  );
  if (outcome === true) return;
  if (outcome === false) throw new AdminRefusal({ code: 'refund_waits_for_nothing', id: refundId });
  throw new UnclearDecision('The workflow has not answered. Read the refund before you repeat it.');
}

function requireSent(sent: Sent | Closed | NoAnswer): void {
  if (sent.kind === 'sent') return;
  const cause = sent.kind === 'no_answer' ? sent.cause : null;
  const why = cause instanceof Error ? `: ${cause.message}` : '.';
  throw new UnclearDecision(`Temporal did not accept the signal${why}`, { cause });
}

/** The entry is written before the signal, so that the request is recorded whatever its outcome. */
function noteInAudit(
  db: Db,
  by: ChangedBy,
  { id: objectId, accountId, status }: Payment,
  asked: { id: string; kind: PaymentDecisionKind; amount: string | null },
): Promise<void> {
  return db.transaction((tx) =>
    appendAudit(tx, {
      ...by,
      action: `payment.${asked.kind}`,
      object: 'payment',
      objectId,
      accountId,
      before: { status },
      after: { operation_id: asked.id, amount: asked.amount },
    }),
  );
}

/** Null when no worker has recorded it. */
async function waitForEnd(
  db: Db,
  paymentId: string,
  id: string,
  patienceMs: number,
): Promise<StoredDecision | null> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const decision = await findDecision(db, paymentId, id);
    if ((decision !== null && decision.state !== 'pending') || performance.now() > giveUpAt) {
      return decision;
    }
    await sleep(ASK_EVERY_MS);
  }
}
