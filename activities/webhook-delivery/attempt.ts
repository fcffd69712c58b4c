/**
 * Makes one attempt at a delivery if one is due. The attempt is recorded before the request is
 * sent, so that it counts even if the worker dies. Only this module enforces the schedule and the
 * number of attempts, regardless of the caller.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  completeAttempt,
  completeAttemptLater,
  giveUpAttempt,
  insertAttempt,
  releaseSlots,
  takeSlot,
} from '../../src/db/webhooks/webhook-attempts';
import {
  endWebhookDelivery,
  forgetRetryRequest,
  lockWebhookDelivery,
  noteAttemptBegun,
  noteFailure,
  planNextAttempt,
  readLockedWebhookDelivery,
  readWebhookDeliveryReport,
  type LockedWebhookDelivery,
} from '../../src/db/webhooks/webhook-deliveries';
import { noteAttemptEnded } from '../../src/db/webhooks/webhook-endpoints';
import type { Db, Reader, Tx } from '../../src/db/transaction';
import { nextWebhookDeliveryMove } from '../../src/domain/webhook-delivery';
import { attemptsOf, type RetryScheduleMs, waitAfterMs } from '../../src/domain/webhook-delivery';
import type { EndpointSlots, TakenSlot } from '../../src/domain/webhook-delivery-slots';
import type { SecretBox } from '../../src/platform/lib/secret-box';
import type { AttemptResult, WebhookSender } from '../../src/adapters/webhooks/sender';
import type { WebhookDeliveryState } from '../../workflows/messages';
import { isLocalCall } from '../caller';

export interface WebhookDeliveryDeps {
  db: Db;
  webhookSender: WebhookSender;
  secretBox: SecretBox;
  /** The slots that this process has taken. */
  endpointSlots: EndpointSlots;
}

export interface AttemptOrder {
  deliveryId: string;
  endpointId: string;
  schedule: RetryScheduleMs;
  /** Whether the attempt is made at once, outside the schedule. */
  manual: boolean;
  /** Identifies the order: a repeated order makes one attempt. */
  key: string;
}

/** @throws ApplicationFailure of type `EndpointBusy`: Temporal calls again after its delay */
export async function attemptWebhookDelivery(
  deps: WebhookDeliveryDeps,
  order: AttemptOrder,
): Promise<WebhookDeliveryState> {
  const slot = await takeProcessSlot(deps, order);
  try {
    const begun = await deps.db.transaction((tx) => begin(tx, deps, order, slot));
    if ('state' in begun) return begun.state;
    const result = await deps.webhookSender.send(begun.request);
    return await (
      await deps.db.transaction((tx) => finish(tx, order, begun.number, result))
    ).state;
  } finally {
    slot.release();
  }
}

/**
 * A local activity waits this long for a slot; the regular activity behind it waits in its queue.
 */
const LOCAL_WAIT_MS_MAX = 250;

async function takeProcessSlot(
  { endpointSlots }: WebhookDeliveryDeps,
  { endpointId }: AttemptOrder,
): Promise<TakenSlot> {
  let waitMs = isLocalCall() ? LOCAL_WAIT_MS_MAX : 0;
  for (;;) {
    const slot = endpointSlots.take(endpointId, isLocalCall() ? waitMs : Infinity);
    if (!('turnInMs' in slot)) return slot;
    if (slot.turnInMs > waitMs) throw endpointBusy(slot.turnInMs);
    waitMs -= slot.turnInMs;
    await sleep(slot.turnInMs);
  }
}

interface Begun {
  number: number;
  request: Parameters<WebhookSender['send']>[0];
}

/** Decides under the row's lock and records the attempt. @returns the state if none is due */
async function begin(
  tx: Tx,
  { secretBox }: WebhookDeliveryDeps,
  order: AttemptOrder,
  slot: TakenSlot,
): Promise<Begun | { state: WebhookDeliveryState }> {
  lockWebhookDelivery(tx, order.deliveryId);
  // The slot is taken together with the row, before it is known whether an attempt is due, because it
  // nearly always is.
  const hasSlot = takeSlot(tx, order);
  const delivery = await readLockedWebhookDelivery(tx, order.deliveryId);
  if (delivery === null) {
    throw ApplicationFailure.nonRetryable(`delivery ${order.deliveryId} does not exist`);
  }
  const { id, eventId, eventType, endpointId, mode, url, body, secret, signature } = delivery;
  // One order makes one attempt, even if the result of the call was lost and it is repeated.
  const asked = order.manual && delivery.lastOrder !== order.key;
  const facts = { ...delivery, retryRequested: delivery.retryRequested || asked };
  const move = nextWebhookDeliveryMove(facts, order.schedule);
  if (move.kind === 'attempt') {
    if (body === null) throw new Error(`${eventId} has no body`);
    if (!(await hasSlot)) throw endpointBusy(slot.giveUp());
    const number = delivery.lastAttempt + 1;
    const { manual } = move;
    insertAttempt(tx, { deliveryId: id, number, manual, url, orderKey: order.key });
    noteAttemptBegun(tx, id, manual);
    const opened = secretBox.open(secret, endpointId);
    const event = { eventType, eventId, body };
    return { number, request: { url, mode, ...event, secret: opened, signature } };
  }
  releaseSlots(tx, endpointId, [order.key]);
  switch (move.kind) {
    case 'count_lost':
      await countLost(tx, order, delivery, move.attempt);
      break;
    case 'skip':
      endWebhookDelivery(tx, id, 'skip', move.why);
      break;
    case 'exhaust':
      endWebhookDelivery(tx, id, 'exhaust', delivery.lastError);
      break;
    case 'rest':
      if (delivery.retryRequested) await forgetRetryRequest(tx, id);
  }
  return {
    state: await reportWebhookDelivery(tx, order, (sql, values) => tx.prepared(sql, values)),
  };
}

/**
 * The failure with which Temporal retries later, without a history event and without occupying a slot
 * of the worker.
 */
function endpointBusy(turnInMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'EndpointBusy',
    message: 'The endpoint has the maximum number of attempts in progress.',
    nextRetryDelay: turnInMs,
    category: ApplicationFailureCategory.BENIGN,
  });
}

async function countLost(
  tx: Tx,
  { schedule }: AttemptOrder,
  delivery: LockedWebhookDelivery,
  number: number,
): Promise<void> {
  const { id: deliveryId, endpointId } = delivery;
  const { manual, orderKey } = await giveUpAttempt(tx, { deliveryId, number });
  releaseSlots(tx, endpointId, [orderKey]);
  await noteAttemptFailed(tx, delivery, schedule, { manual, lastError: 'worker_lost' });
}

/** @returns the state, known after the commit */
async function finish(
  tx: Tx,
  order: AttemptOrder,
  number: number,
  result: AttemptResult,
): Promise<{ state: Promise<WebhookDeliveryState> }> {
  const { deliveryId, schedule } = order;
  if (result.outcome === 'succeeded') {
    // A success ends the delivery whatever the rows say, so all statements are sent with COMMIT. The
    // first one locks the delivery, as everywhere.
    endWebhookDelivery(tx, deliveryId, 'succeed', null);
    completeAttemptLater(tx, { deliveryId, number }, result);
    noteAttemptEnded(tx, order, false);
    return { state: reportWebhookDelivery(tx, order) };
  }
  lockWebhookDelivery(tx, deliveryId);
  const delivery = await readLockedWebhookDelivery(tx, deliveryId);
  if (delivery === null) throw new Error(`delivery ${deliveryId} does not exist`);
  const completed = await completeAttempt(tx, { deliveryId, number }, result);
  if (completed === null) return { state: reportWebhookDelivery(tx, order) };
  const { manual, wasLost } = completed;
  // A lost attempt has already been counted as failed, and the next one is planned.
  if (!wasLost) {
    await noteAttemptFailed(tx, delivery, schedule, { manual, lastError: result.errorCode });
  }
  noteAttemptEnded(tx, order, ranOutOfTime(result));
  return { state: reportWebhookDelivery(tx, order) };
}

async function noteAttemptFailed(
  tx: Tx,
  { id, attempts }: LockedWebhookDelivery,
  schedule: RetryScheduleMs,
  { manual, lastError }: { manual: boolean; lastError: string | null },
): Promise<void> {
  const waitMs = waitAfterMs(schedule, attempts);
  if (manual) await noteFailure(tx, id, lastError);
  else if (waitMs === null) endWebhookDelivery(tx, id, 'exhaust', lastError);
  else await planNextAttempt(tx, id, waitMs, lastError);
}

function ranOutOfTime({ errorCode }: AttemptResult): boolean {
  return errorCode === 'timeout' || errorCode === 'connect_timeout';
}

/**
 * Ends a delivery's schedule for an operator. Safe to run twice: an ended delivery does not change.
 */
export async function abandonWebhookDelivery(
  db: Db,
  delivery: { deliveryId: string; schedule: RetryScheduleMs },
): Promise<WebhookDeliveryState> {
  return db.transaction((tx) => {
    endWebhookDelivery(tx, delivery.deliveryId, 'abandon', 'abandoned');
    return reportWebhookDelivery(tx, delivery, (sql, values) => tx.prepared(sql, values));
  });
}

/**
 * A delivery's row as its workflow sees it: ids, numbers and codes, without URL and body.
 * @param send by default with the transaction's next statement or its commit
 */
function reportWebhookDelivery(
  tx: Tx,
  { deliveryId, schedule }: { deliveryId: string; schedule: RetryScheduleMs },
  send: Reader['prepared'] = (sql, values) => tx.sendWithNext(sql, values),
): Promise<WebhookDeliveryState> {
  const state = readWebhookDeliveryReport(deliveryId, send).then((report) => {
    if (report === null) throw new Error(`delivery ${deliveryId} does not exist`);
    const { nextAttemptAt, dueInMs, ...rest } = report;
    return {
      ...rest,
      attemptsMax: attemptsOf(schedule),
      next: nextAttemptAt === null ? null : { at: nextAttemptAt.toISOString(), inMs: dueInMs ?? 0 },
    };
  });
  // The code that awaits the state gets the error. If the commit fails, nothing awaits it.
  state.catch(() => undefined);
  return state;
}
