/**
 * The event of a status change: the bytes that will be sent for it (decisions/webhooks#webhook-bodies), who caused
 * it and in which workflow run.
 */
import type { NewEvent } from '../src/db/webhooks/events';
import {
  PAYMENT_RECEIVED,
  PAYOUT_BATCH_EVENTS,
  paymentEvent,
  payoutEvent,
  type PayoutScheduleEvent,
  refundEvent,
} from '../src/domain/events';
import type { Payment, PaymentStatus } from '../src/domain/payment';
import type { Payout } from '../src/domain/payout';
import type { PayoutBatch, PayoutBatchProgress } from '../src/domain/payout-batch';
import type { PayoutSchedule } from '../src/domain/payout-schedule';
import { type Refund, refundStatus } from '../src/domain/refund';
import { newId } from '../src/platform/lib/new-id';
import { callingWorkflow } from './caller';
import { type EventData, presentEvent } from '../src/kit/service/envelope';
import { presentPayment } from '../src/features/payments/payments-contract';
import { presentPayout } from '../src/features/payouts/payouts-contract';
import { presentPayoutBatch } from '../src/features/payout-batches/payout-batches-contract';
import { presentPayoutSchedule } from '../src/features/payout-schedules/payout-schedules-contract';
import { presentRefund } from '../src/features/payments/refunds-contract';

/** @param payout the payout after the change */
export function eventOfPayout(payout: Payout): NewEvent {
  return newEvent(payoutEvent(payout.status), payout, presentPayout(payout), deciderOf(payout));
}

/**
 * @param payment the payment after the change
 * @param before its status before; null if it is new. The same one: only more money was credited
 */
export function eventOfPayment(payment: Payment, before: PaymentStatus | null): NewEvent {
  const type = payment.status === before ? PAYMENT_RECEIVED : paymentEvent(payment.status);
  return newEvent(type, payment, presentPayment(payment), null);
}

/** @param batch the batch after the change; a new batch has no event */
export function eventOfPayoutBatch(batch: PayoutBatch, progress: PayoutBatchProgress): NewEvent {
  const { status } = batch;
  if (status === 'requested' || status === 'under_review') {
    throw new Error(`a batch that is ${status} has no event`);
  }
  const actor = status === 'processing' ? batch.approvedBy : batch.endedBy;
  return newEvent(PAYOUT_BATCH_EVENTS[status], batch, presentPayoutBatch(batch, progress), actor);
}

/** @param schedule the schedule after the run or its end */
export function eventOfPayoutSchedule(
  type: PayoutScheduleEvent,
  schedule: PayoutSchedule,
): NewEvent {
  return newEvent(type, schedule, presentPayoutSchedule(schedule), null);
}

/** @param refund the refund after the change */
export function eventOfRefund(refund: Refund): NewEvent {
  const actor = refund.state === 'ordered' ? refund.operator : null;
  return newEvent(refundEvent(refundStatus(refund.state)), refund, presentRefund(refund), actor);
}

function deciderOf({ status, decidedBy }: Payout): string | null {
  const isDecided = ['requested', 'approved', 'rejected', 'cancelled'].includes(status);
  // A new payout is requested and has no decider; one that an operator has cleared has.
  return isDecided ? decidedBy : null;
}

function newEvent(
  type: NewEvent['type'],
  object: Payment | Payout | PayoutBatch | PayoutSchedule | Refund,
  data: EventData,
  actor: string | null,
): NewEvent {
  const { mode, sequence, accountId, id: objectId, updatedAt: createdAt } = object;
  const head = { id: newId('event'), type, mode, sequence, createdAt };
  const runId = callingWorkflow()?.runId ?? null;
  return { ...head, accountId, objectId, body: presentEvent(head, data), actor, runId };
}
