/** What must be true when the faults are over: a sentence for everything that is not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type History, historyToJSON } from '@temporalio/common/lib/proto-utils';
import { ZERO } from '../../src/domain/money';
import type { RefundState } from '../../src/domain/payment-step';
import { refundStatus } from '../../src/domain/refund';
import { MerchantClient } from '../support/merchant/merchant-client';
import { auditPayouts, expectedBalance, type TaskFailure } from '../support/payout/payout-audit';
import { auditWebhookDeliveries } from '../support/webhook/webhook-delivery-audit';
import { faultOf } from '../support/webhook/webhook-receiver';
import type { Played } from './faults';
import { FUNDS, type Layout } from './layout';
import { isLinearizable } from './linearizability';
import type { ObjectHistory } from './client';
import type { Load } from './load';
import { wrongWaits } from './judge-waiting';
import { objectModel } from './object-model';

export interface Verdict {
  violations: string[];
  lostAcknowledgements: string[];
  doubleSends: string[];
}

/** Attempts at the receiver wait up to a minute for their retry. */
const SETTLED_WITHIN_MS = 240_000;

export async function judge(
  layout: Layout,
  load: Load,
  played: readonly Played[],
): Promise<Verdict> {
  const ended = layout.endedByThemselves();
  // Its supervisor would.
  await Promise.all(ended.map((name) => layout.program(name).start()));
  const unfinished = await whenSettled(layout);
  const stored = await readStored(layout);
  const { readTransfers } = layout.rail;
  const isExcused = (failure: TaskFailure): boolean => isOfSuspendedWorker(failure, played);
  const audit = await auditPayouts({ ...layout.gateway, readTransfers, isExcused });
  const doubleSends = await readDoubleSends(layout);
  const lostAcknowledgements = load.histories
    .filter(({ id }) => id !== null && !stored.has(id))
    .map(({ kind, id }) => `the ${kind} ${id ?? ''} was acknowledged and does not exist`);
  return {
    lostAcknowledgements,
    doubleSends,
    violations: [
      ...ended.map((name) => `${name} ended by itself`),
      ...(layout.lacksBouncer() ? ['PgBouncer has ended'] : []),
      ...load.unanswered,
      ...unfinished,
      ...audit,
      ...load.histories.filter((one) => !isSound(one, stored)).map(describe),
      ...strayObjects(load, stored),
      ...(await wrongBalances(layout)),
      ...(await wrongPayments(layout)),
      ...(await wrongRefunds(layout)),
      ...(await wrongBatches(layout, load)),
      ...(await wrongWaits(layout.gateway.db)),
      ...(await wrongDeliveries(layout)),
      ...(await missingConnections(layout)),
      ...(await layout.rail.readFaults()),
    ],
  };
}

/** The SDK ends a workflow task whose code runs for longer. A suspended process runs none. */
const TASK_MAX_MS = 5_000;
/** A process that goes on reports the ended task within this time. */
const REPORTED_WITHIN_MS = 10_000;

/**
 * A worker that was suspended for longer than a workflow task may take fails the task when it goes
 * on, and Temporal repeats it. The workflow's code did not fail.
 */
export function isOfSuspendedWorker(
  { message, identity, at }: TaskFailure,
  played: readonly Played[],
): boolean {
  if (!message.startsWith('Script execution timed out')) return false;
  const failedAt = at.getTime() - performance.timeOrigin;
  return played.some(
    ({ fault, startedAt, endedAt, pid }) =>
      fault.kind === 'pause' &&
      pid !== null &&
      identity.startsWith(`${pid}@`) &&
      endedAt - startedAt >= TASK_MAX_MS &&
      failedAt >= startedAt &&
      failedAt <= endedAt + REPORTED_WITHIN_MS,
  );
}

/** @returns what is still open after the time that everything has to end */
async function whenSettled({ gateway }: Layout): Promise<string[]> {
  const giveUpAt = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const open = await gateway.db
      .query<OpenObject>(`SELECT id, status FROM payouts WHERE status_group = 'open'
       UNION ALL SELECT p.id, p.status FROM payments p
        WHERE p.status IN ('created', 'pending', 'processing') AND EXISTS
              (SELECT FROM events e WHERE e.object_id = p.id AND e.type = 'payment.processing')
       UNION ALL SELECT id, status FROM payout_batches WHERE closed_at IS NULL
       UNION ALL SELECT id, status FROM payout_schedule_runs WHERE status = 'pending'
       UNION ALL SELECT id, state FROM payment_refunds WHERE state = 'ordered'
       UNION ALL SELECT id, status FROM webhook_deliveries WHERE status = 'pending'`);
    if (open.length === 0) return [];
    if (Date.now() > giveUpAt) return Promise.all(open.map((one) => explain(gateway, one)));
    await sleep(1_000);
  }
}

interface OpenObject {
  id: string;
  status: string;
}

const EVENTS_SHOWN = 10;
const EVENT_LENGTH_MAX = 300;

/** What an object that stays open waits for, and the last events of its workflow. */
async function explain(
  { db, temporal }: Layout['gateway'],
  { id, status }: OpenObject,
): Promise<string> {
  const conditions = await db.query(
    'SELECT kind, parameters, met_at, looked_at FROM payout_conditions WHERE payout_id = ?',
    [id],
  );
  const events = await temporal.workflow
    .getHandle(id)
    .fetchHistory()
    .then(lastEvents, (error: unknown) => String(error));
  const waits =
    conditions.length === 0 ? '' : `, with the conditions ${JSON.stringify(conditions)}`;
  return `${id} is ${status} still${waits}; the last events: ${events}`;
}

function lastEvents(history: History): string {
  const { events } = JSON.parse(historyToJSON(history)) as { events: object[] };
  const shown = events.slice(-EVENTS_SHOWN);
  return shown.map((event) => JSON.stringify(event).slice(0, EVENT_LENGTH_MAX)).join('; ');
}

/** id → status, of all that clients create. */
async function readStored({ gateway: { db } }: Layout): Promise<Map<string, string>> {
  const objects = await db.query<{
    id: string;
    status: string;
  }>(`SELECT id, status FROM payouts WHERE batch_id IS NULL
     UNION ALL SELECT id, status FROM payments UNION ALL SELECT id, status FROM payout_schedules
     UNION ALL SELECT id, status FROM payout_batches b WHERE NOT EXISTS
       (SELECT FROM payout_schedule_runs r WHERE r.batch_id = b.id)`);
  const refunds = await db.query<{ id: string; state: RefundState }>(
    'SELECT id, state FROM payment_refunds',
  );
  return new Map([
    ...objects.map(({ id, status }) => [id, status] as const),
    ...refunds.map(({ id, state }) => [id, refundStatus(state)] as const),
  ]);
}

/** The database is read last: its status must follow from all answers. */
function isSound({ kind, id, operations }: ObjectHistory, stored: Map<string, string>): boolean {
  const status = id === null ? undefined : stored.get(id);
  const now = performance.now();
  const last =
    id === null || status === undefined
      ? []
      : [
          {
            action: { type: 'read' as const, answer: { id, status } },
            startedAt: now,
            endedAt: now + 1,
          },
        ];
  return isLinearizable(objectModel(kind), [...operations, ...last]);
}

function describe({ kind, key, operations }: ObjectHistory): string {
  const told = operations.map(({ action, startedAt, endedAt }) => {
    const times = `${Math.round(startedAt)}–${endedAt === null ? '' : Math.round(endedAt)}`;
    return `${action.type} ${times} ${JSON.stringify(action.answer)}`;
  });
  return `no order explains the answers about the ${kind} with the key ${key}: ${told.join('; ')}`;
}

/** An object that no client was told of belongs to a key whose client never got an answer. */
function strayObjects(load: Load, stored: Map<string, string>): string[] {
  const known = new Set(load.histories.map(({ id }) => id));
  const isGivenUp = load.histories.some(({ id }) => id === null);
  return [...stored.keys()]
    .filter((id) => !known.has(id) && !isGivenUp)
    .map((id) => `${id} exists, and no client was told of it`);
}

async function readDoubleSends({ rail }: Layout): Promise<string[]> {
  const sent = new Map<string, number>();
  for (const { client_reference, times_sent } of await rail.readTransfers()) {
    sent.set(client_reference, (sent.get(client_reference) ?? 0) + times_sent);
  }
  return [...sent].filter(([, times]) => times > 1).map(([id, times]) => `${id}, ${times} times`);
}

/** The funds and what payments gave, less what payouts took and hold. */
async function wrongBalances({ gateway: { db }, merchants, rail }: Layout): Promise<string[]> {
  const { currency } = rail;
  const faults: string[] = [];
  for (const { accountId, mode } of merchants) {
    const [credited] = await db.query<{ sum: string }>(
      `SELECT (?::numeric + coalesce(sum(CASE e.direction WHEN 'in' THEN e.amount ELSE -e.amount END), 0)
              )::numeric(38,8)::text AS sum
         FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
        WHERE t.account_id = ? AND t.source_object = 'payment' AND e.account = 'available'`,
      [FUNDS, accountId],
    );
    const funds = credited?.sum ?? FUNDS;
    const expected = await expectedBalance(db, accountId, funds, mode, currency);
    const [found] = await db.query(
      `SELECT available::text, reserved::text FROM balances
        WHERE account_id = ? AND mode = ? AND currency = ?`,
      [accountId, mode, currency],
    );
    if (JSON.stringify(found) === JSON.stringify(expected)) continue;
    faults.push(`${accountId} has ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
  return faults;
}

/** The provider and the payments agree about what customers paid. */
async function wrongPayments({ gateway: { db }, rail }: Layout): Promise<string[]> {
  const payments = await db.query<{
    id: string;
    credits: number;
  }>(`SELECT p.id, (SELECT count(*)::int FROM payment_credits c WHERE c.payment_id = p.id) AS credits
       FROM payments p`);
  const credits = new Map(payments.map((payment) => [payment.id, payment.credits]));
  return [...(await rail.readPaid())].flatMap(([id, paid]) => {
    const credited = credits.get(id) ?? 0;
    return paid === credited ? [] : [`${id}: ${paid} paid, ${credited} credited`];
  });
}

/** No payment gives back more than came, and the provider has sent back what was taken for it. */
async function wrongRefunds({ gateway: { db }, rail }: Layout): Promise<string[]> {
  if (!rail.refunds) return [];
  const payments = await db.query<{
    id: string;
    refunded: string;
    isCovered: boolean;
  }>(`SELECT p.id, coalesce(sum(r.amount), 0)::numeric(38,8)::text AS refunded,
            coalesce(sum(r.amount), 0) <= p.credited_amount AS is_covered
       FROM payments p LEFT JOIN payment_refunds r ON r.payment_id = p.id AND r.state <> 'refused'
      GROUP BY p.id`);
  const sentBack = await rail.readRefunded();
  return payments.flatMap(({ id, refunded, isCovered }) => [
    ...(isCovered ? [] : [`${id}: ${refunded} refunded, more than was credited`]),
    ...((sentBack.get(id) ?? ZERO) === refunded
      ? []
      : [`${id}: ${refunded} refunded, ${sentBack.get(id) ?? ZERO} sent back by the provider`]),
  ]);
}

/** Every batch proves its sums: sent + failed + returned = manifest = ledger. */
async function wrongBatches({ baseUrls }: Layout, { histories }: Load): Promise<string[]> {
  const batches = histories.filter(({ kind, id }) => kind === 'payout_batch' && id !== null);
  const faults: string[] = [];
  for (const { id, merchant } of batches) {
    const client = new MerchantClient(baseUrls[0] ?? '', merchant.key);
    const { status, json, text } = await client.get(`/payout_batches/${id ?? ''}/proof`);
    if (status === 200 && json.data.balanced === true) continue;
    faults.push(`the proof of ${id ?? ''} does not hold: ${status} ${text}`);
  }
  return faults;
}

async function wrongDeliveries({ gateway: { db }, merchants }: Layout): Promise<string[]> {
  const faults: string[] = [];
  for (const { id: endpointId, receiver, secret } of merchants.flatMap(
    ({ endpoint }) => endpoint ?? [],
  )) {
    const own = await db.query<{ id: string }>(
      `SELECT e.id FROM events e JOIN webhook_endpoints p
         ON p.account_id = e.account_id AND p.mode = e.mode AND p.id = ?`,
      [endpointId],
    );
    const ids = new Set(own.map(({ id }) => id));
    const here = receiver.received.filter(({ event }) => ids.has(event.id as string));
    faults.push(
      ...(await auditWebhookDeliveries(
        db,
        endpointId,
        here.map(({ event }) => event.id as string),
      )),
      ...here.flatMap((one) => faultOf(one, secret) ?? []).filter(isWrong),
    );
  }
  return faults;
}

/** The clock of a program that signs may have been wrong. */
function isWrong(fault: string): boolean {
  return fault !== 't is too far away';
}

/** No connection of a program is stuck in a transaction. */
async function missingConnections({ gateway: { db } }: Layout): Promise<string[]> {
  const stuck = await db.query<{
    pid: number;
    state: string;
  }>(`SELECT pid, state FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'gateway-%'
        AND state LIKE 'idle in transaction%' AND state_change < now() - interval '20 seconds'`);
  return stuck.map(({ pid, state }) => `the connection ${pid} is ${state}`);
}
