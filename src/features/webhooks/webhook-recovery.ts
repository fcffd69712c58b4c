/**
 * Bulk operations on webhook deliveries, for an operator: retries of failed and skipped deliveries,
 * and events that an endpoint never received (decisions/webhooks#webhook-retries).
 */
import {
  countMissing,
  countOpenWebhookDeliveries,
  countSkipped,
  insertMissingWebhookDeliveries,
  recoverSkipped,
  requestFailedRetries,
  type RecoveredBatch,
  type RecoveryBatch,
  type RecoveryRange,
} from '../../db/webhooks/webhook-recovery';
import type { Db, Tx } from '../../db/transaction';
import { OPEN_DELIVERIES_MAX, OPEN_DELIVERIES_RESERVE } from '../../domain/webhook-delivery';
import { wallClockMs } from '../../platform/lib/wall-clock';
import type { WebhookDeliveryWorkflows } from '../../temporal/webhook-delivery-workflows';
import { makeChange, type AuditedObject, type ChangedBy } from '../../kit/service/audit';
import { InvalidInput } from '../../kit/service/refusal';
import { BODIES_KEPT_DAYS, refuseDisabled, wakeWebhookDeliveries } from './webhook-deliveries';
import { requireEndpoint, requireKnown } from './webhook-endpoints';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Small enough that no statement locks rows for long. */
const BATCH = 500;
/** The schedule restart-missing starts the others some seconds later. */
const WOKEN_MAX = 100;

/** The operator's request. */
interface Wish {
  endpointId: string;
  since: Date;
}

interface Step {
  run: (tx: Tx, batch: RecoveryBatch) => Promise<RecoveredBatch>;
  /** For a step that opens deliveries and stops at the maximum: counts what remains. */
  countLeft?: (db: Db, range: RecoveryRange) => Promise<number>;
}

/**
 * Requests one attempt for each delivery that has failed since, and resumes the skipped ones, up to
 * the maximum of open deliveries. @throws AdminRefusal, InvalidInput
 */
export function recoverWebhookDeliveries(
  db: Db,
  by: ChangedBy,
  workflows: WebhookDeliveryWorkflows | null,
  wish: Wish,
) {
  return runSteps(
    db,
    workflows,
    { by, wish, action: 'webhook_endpoint.recover' },
    {
      retried: { run: requestFailedRetries },
      resumed: { run: recoverSkipped, countLeft: countSkipped },
    },
  );
}

/**
 * Creates a delivery for each event since then that the endpoint is subscribed to and never
 * received, up to the maximum of open deliveries. @throws AdminRefusal, InvalidInput
 */
export function replayMissing(
  db: Db,
  by: ChangedBy,
  workflows: WebhookDeliveryWorkflows | null,
  wish: Wish,
) {
  return runSteps(
    db,
    workflows,
    { by, wish, action: 'webhook_endpoint.replay' },
    {
      created: { run: insertMissingWebhookDeliveries, countLeft: countMissing },
    },
  );
}

/** The operator, the request, and its action in the audit log. */
interface Order {
  by: ChangedBy;
  wish: Wish;
  action: string;
}

async function runSteps<Count extends string>(
  db: Db,
  workflows: WebhookDeliveryWorkflows | null,
  order: Order,
  steps: Record<Count, Step>,
) {
  const { endpointId, since } = order.wish;
  checkSince(since);
  const counts = Object.fromEntries(Object.keys(steps).map((name) => [name, 0])) as Record<
    Count,
    number
  >;
  const woken: string[] = [];
  let left = 0;
  for (const [name, step] of Object.entries(steps) as [Count, Step][]) {
    const { done, first, stopped } = await runStep(db, order, name, step);
    counts[name] = done;
    woken.push(...first.slice(0, WOKEN_MAX - woken.length));
    if (stopped && step.countLeft !== undefined) {
      left += await step.countLeft(db, { endpoint: await requireKnown(db, endpointId), since });
    }
  }
  await wakeWebhookDeliveries(db, workflows, woken);
  return {
    endpointId,
    since,
    ...counts,
    left,
  };
}

/** @returns the number, the first ids, and whether the maximum of open deliveries was reached */
async function runStep(db: Db, order: Order, name: string, step: Step) {
  const first: string[] = [];
  let done = 0;
  for (let after: string | null = ''; after !== null;) {
    const batch: RecoveredBatch & { full: boolean } = await runBatch(db, order, name, step, after);
    done += batch.deliveryIds.length;
    first.push(...batch.deliveryIds.slice(0, WOKEN_MAX - first.length));
    // Continuing with the few places that become free would mean many small batches.
    if (batch.full) return { done, first, stopped: true };
    after = batch.last;
  }
  return { done, first, stopped: false };
}

/**
 * Each batch is a transaction with its audit row, so that a crash leaves only recorded changes.
 * @returns `full`: the maximum of open deliveries is reached
 */
async function runBatch(
  db: Db,
  { by, wish, action }: Order,
  name: string,
  step: Step,
  after: string,
): Promise<RecoveredBatch & { full: boolean }> {
  return makeChange(db, by, async (tx) => {
    const endpoint = await requireEndpoint(tx, wish.endpointId);
    refuseDisabled(endpoint);
    const limit = step.countLeft === undefined ? BATCH : await roomFor(tx, endpoint.id);
    const batch =
      limit === 0
        ? { deliveryIds: [], last: after }
        : await step.run(tx, { endpoint, since: wish.since, after, limit });
    const full = limit < BATCH && batch.deliveryIds.length === limit;
    const audit: AuditedObject = {
      action,
      object: 'webhook_endpoint',
      objectId: endpoint.id,
      accountId: endpoint.accountId,
      before: null,
      after: { since: wish.since.toISOString(), [name]: batch.deliveryIds.length },
    };
    return { result: { ...batch, full }, audit };
  });
}

/**
 * How many deliveries a batch can open. The endpoint's lock prevents concurrent use of the same
 * places.
 */
async function roomFor(tx: Tx, endpointId: string): Promise<number> {
  const room = OPEN_DELIVERIES_MAX - OPEN_DELIVERIES_RESERVE;
  return Math.min(BATCH, Math.max(0, room - (await countOpenWebhookDeliveries(tx, endpointId))));
}

function checkSince(since: Date): void {
  const ageMs = wallClockMs() - since.getTime();
  if (ageMs < 0) throw new InvalidInput('since', { code: 'in_the_future', value: since });
  if (ageMs <= BODIES_KEPT_DAYS * DAY_MS) return;
  throw new InvalidInput('since', { code: 'too_long_ago', value: since, days: BODIES_KEPT_DAYS });
}
