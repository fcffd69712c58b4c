/**
 * The event of a status change: the bytes that will be sent for it (decisions/webhook-bodies), who caused
 * it and in which workflow run.
 */
import type { NewEvent } from '../src/db/repositories/events';
import { paymentEvent, payoutEvent } from '../src/domain/events';
import type { Payment } from '../src/domain/payment';
import type { Payout } from '../src/domain/payout';
import { newId } from '../src/lib/new-id';
import { callingWorkflow } from './caller';
import { type EventData, presentEvent } from '../src/presenters/envelope';
import { presentPayment } from '../src/presenters/payment';
import { presentPayout } from '../src/presenters/payout';

/** @param payout the payout after the change */
export function eventOfPayout(payout: Payout): NewEvent {
  return newEvent(payoutEvent(payout.status), payout, presentPayout(payout), deciderOf(payout));
}

/** @param payment the payment after the change */
export function eventOfPayment(payment: Payment): NewEvent {
  return newEvent(paymentEvent(payment.status), payment, presentPayment(payment), null);
}

function deciderOf({ status, decidedBy }: Payout): string | null {
  return status === 'approved' || status === 'rejected' || status === 'cancelled'
    ? decidedBy
    : null;
}

function newEvent(
  type: NewEvent['type'],
  object: Payment | Payout,
  data: EventData,
  actor: string | null,
): NewEvent {
  const { mode, sequence, accountId, id: objectId, updatedAt: createdAt } = object;
  const head = { id: newId('event'), type, mode, sequence, createdAt };
  const runId = callingWorkflow()?.runId ?? null;
  return { ...head, accountId, objectId, body: presentEvent(head, data), actor, runId };
}
