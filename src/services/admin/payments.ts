/**
 * An operator's decision about one payment. It goes to the payment's workflow as a signal, which
 * starts the workflow when it has ended, and this waits for what becomes of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit } from '../../db/repositories/audit-log';
import { findDecision, type StoredDecision } from '../../db/repositories/payment-decisions';
import { findPayment } from '../../db/repositories/payments';
import { inTransaction, type Db } from '../../db/transaction';
import type { Payment, PaymentDecisionKind } from '../../domain/payment';
import { type PaymentWorkflows, paymentStart } from '../../temporal/payment-workflows';
import type { ChangedBy } from './change';
import { checkText, positiveAmount } from './checks';
import { AdminRefusal } from './refusal';

const ID_LENGTH_MAX = 100;

/** A worker takes it down at once; the provider may take its time. */
const PATIENCE_MS = 15_000;
const ASK_EVERY_MS = 200;

export interface PaymentDecisionInput {
  paymentId: string;
  kind: PaymentDecisionKind;
  /** Chosen by the caller before the first try: the same one counts once. */
  id: string;
  /** Of a refund, as text; null: all that is left. */
  amount: string | null;
}

export interface PaymentsDeps {
  db: Db;
  paymentWorkflows: PaymentWorkflows;
}

/**
 * @returns also while the provider has not answered: then the state is `pending`
 * @throws InvalidInput; AdminRefusal when it was refused; Error when it is not known what became
 *   of it, and the same decision can be sent again
 */
export async function decideAboutPayment(
  { db, paymentWorkflows }: PaymentsDeps,
  by: ChangedBy,
  input: PaymentDecisionInput,
) {
  const { paymentId, kind } = input;
  const id = checkText('operation-id', input.id, ID_LENGTH_MAX);
  const amount = input.amount === null ? null : positiveAmount('amount', input.amount);
  const payment = await findPayment(db, paymentId);
  if (payment === null) throw new AdminRefusal(`The payment ${paymentId} does not exist.`);
  const decision = { id, kind, by: by.actor, reason: by.reason, amount };
  if ((await findDecision(db, paymentId, id)) === null) {
    await noteInAudit(db, by, payment, { id, kind, amount });
  }
  const sent = await paymentWorkflows.decide(paymentStart(payment), decision);
  if (sent.kind !== 'sent') throw new Error('Temporal did not take the signal.');
  const taken = await waitForEnd(db, paymentId, id);
  if (taken === null) throw new Error('No worker has taken it down yet.');
  if (taken.state === 'refused') {
    throw new AdminRefusal(`The \`${kind}\` was refused: ${taken.refusal ?? ''}`);
  }
  return present((await findPayment(db, paymentId)) ?? payment, taken);
}

/**
 * Wakes its workflow, which asks the provider.
 * @returns the payment as it stands before that
 * @throws AdminRefusal when there is no such payment; Error when Temporal did not take it
 */
export async function lookAtPayment({ db, paymentWorkflows }: PaymentsDeps, paymentId: string) {
  const payment = await findPayment(db, paymentId);
  if (payment === null) throw new AdminRefusal(`The payment ${paymentId} does not exist.`);
  const sent = await paymentWorkflows.sendProviderUpdate(paymentStart(payment));
  if (sent.kind !== 'sent') throw new Error('Temporal did not take the signal.');
  return { id: paymentId, object: 'payment', status: payment.status, looks_at_provider: true };
}

/** Before the signal: what was asked for is on record whatever becomes of it. */
function noteInAudit(
  db: Db,
  by: ChangedBy,
  { id: objectId, accountId, status }: Payment,
  asked: { id: string; kind: PaymentDecisionKind; amount: string | null },
): Promise<void> {
  return inTransaction(db, (tx) =>
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

/** Null when nobody has taken it down. */
async function waitForEnd(db: Db, paymentId: string, id: string): Promise<StoredDecision | null> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const decision = await findDecision(db, paymentId, id);
    if ((decision !== null && decision.state !== 'pending') || Date.now() > giveUpAt) {
      return decision;
    }
    await sleep(ASK_EVERY_MS);
  }
}

function present({ id, status, refundedAmount }: Payment, decision: StoredDecision) {
  return {
    id: decision.id,
    object: 'payment_decision',
    payment_id: id,
    kind: decision.kind,
    amount: decision.amount,
    state: decision.state,
    payment_status: status,
    payment_refunded_amount: refundedAmount,
  };
}
