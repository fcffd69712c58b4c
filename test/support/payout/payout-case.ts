/**
 * One payout of a merchant of its own, and what can be seen of it: its row, its events, its
 * workflow's history and page, the merchant's balance and the sandbox's book.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils';
import { listBalances } from '../../../src/db/ledger/ledger';
import { getPayout } from '../../../src/db/payouts/payouts';
import { ApiError } from '../../../src/domain/errors';
import type { Mode } from '../../../src/domain/mode';
import { amount } from '../../../src/domain/money';
import type { Payout, PayoutRequest } from '../../../src/domain/payout';
import { magicAddress, type ScenarioName } from '../../../src/rails/sandbox/transfers/scenarios';
import type { Caller } from '../../../src/kit/service/services';
import { TASK_QUEUES, WORKFLOWS } from '../../../workflows/names';
import { readBookEntry } from '../servers/sandbox';
import type { FaultPlan } from '../chaos/activity-faults';
import { createMerchant, fund, FUNDS } from '../merchant/merchant';
import type { OnStart, WorkflowWorld } from '../servers/workflow-world';
import { PATIENCE_MS, waitFor, waitThroughFaults } from '../wait-for';
import { readPage } from '../workflow-page';

export interface CaseOptions {
  mode?: Mode;
  scenario?: ScenarioName;
  /** Test mode only; live payouts are always reviewed here. */
  review?: boolean;
  plan?: FaultPlan;
  request?: Partial<PayoutRequest>;
  onStart?: OnStart;
}

export interface PayoutCase {
  id: string;
  caller: Caller;
  handle: WorkflowHandle;
}

export async function createPayoutCase(
  world: WorkflowWorld,
  options: CaseOptions = {},
): Promise<PayoutCase> {
  const { mode = 'live', plan } = options;
  const currency = options.request?.currency ?? 'USDT';
  const caller = await createCaller(world, mode, currency, options.review ?? false);
  const payouts = world.payouts(async (payoutId) => {
    if (plan !== undefined) world.planFaults(payoutId, plan);
    await options.onStart?.(payoutId);
  });
  const wanted = {
    idempotencyKey: randomBytes(12).toString('hex'),
    request: buildRequest(options.scenario ?? 'sends', options.request),
  };
  // Merchants are told to send what was answered with 503 again, with the same key.
  const accepted = await waitThroughFaults('the payout to be accepted', () =>
    payouts.create(caller, wanted).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'service_unavailable') return undefined;
      return { error };
    }),
  );
  if ('error' in accepted) throw accepted.error;
  const { body } = accepted;
  const { id } = (JSON.parse(body.toString()) as { data: { id: string } }).data;
  return { id, caller, handle: world.temporal.workflow.getHandle(id) };
}

export async function createCaller(
  world: WorkflowWorld,
  mode: Mode,
  currency: string,
  review: boolean,
): Promise<Caller> {
  const pepper = randomBytes(32).toString('hex');
  const { accountId } = await createMerchant(world.db, pepper, { rehearseReview: review });
  await fund(world.db, accountId, mode, currency, FUNDS);
  const [key] = await world.db.query<{ id: string }>(
    'SELECT id FROM api_keys WHERE account_id = ? AND mode = ?',
    [accountId, mode],
  );
  return { apiKeyId: key?.id ?? '', accountId, mode, scopes: ['payouts:write'] };
}

export function buildRequest(
  scenario: ScenarioName,
  request: Partial<PayoutRequest> = {},
): PayoutRequest {
  return {
    amount: amount('10'),
    currency: 'USDT',
    reference: `ref-${randomBytes(8).toString('hex')}`,
    destination: { type: 'crypto_address', value: magicAddress(scenario, 'tron'), memo: null },
    network: 'tron',
    provider: null,
    description: null,
    metadata: {},
    ...request,
  };
}

export function readPayout(world: WorkflowWorld, { id }: PayoutCase): Promise<Payout> {
  return getPayout(world.db, id);
}

/** Waits until the row is as wanted. */
export async function whenPayoutRow(
  world: WorkflowWorld,
  payoutCase: PayoutCase,
  what: string,
  isSo: (payout: Payout) => boolean,
): Promise<Payout> {
  return waitFor(`${payoutCase.id} ${what}`, async () => {
    const payout = await readPayout(world, payoutCase);
    return isSo(payout) ? payout : undefined;
  });
}

/** What an operator reads on the workflow's page. */
export function readDetails({ handle }: PayoutCase): Promise<string> {
  return readPage(handle);
}

/** Until its workflow has processed everything and waits. */
export async function whenIdle({ handle }: Pick<PayoutCase, 'handle'>): Promise<void> {
  let length = 0;
  await waitFor('an idle workflow', async () => {
    const { historyLength } = await handle.describe();
    const isIdle = historyLength === length;
    length = historyLength;
    if (isIdle) return true;
    await sleep(700);
    return undefined;
  });
}

export async function whenDetails(payoutCase: PayoutCase, wanted: RegExp): Promise<string> {
  return waitFor(`${String(wanted)} on the page of ${payoutCase.id}`, async () => {
    const details = await readDetails(payoutCase);
    return wanted.test(details) ? details : undefined;
  });
}

export async function readSearchAttributes({ handle }: PayoutCase) {
  const { typedSearchAttributes } = await handle.describe();
  return Object.fromEntries(
    typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value as unknown]),
  );
}

/** Waits for the workflow to end, and says how. */
export async function whenOver({ handle }: PayoutCase): Promise<unknown> {
  return Promise.race([handle.result(), failWhenPatienceEnds(handle)]);
}

/** The client would wait for ever for a workflow that does not end. */
async function failWhenPatienceEnds(handle: WorkflowHandle): Promise<never> {
  await sleep(PATIENCE_MS, undefined, { ref: false });
  const { status, historyLength } = await handle.describe();
  throw new Error(
    `${handle.workflowId} is ${status.name} after ${PATIENCE_MS} ms, with ${historyLength} events`,
  );
}

export interface PayoutRecords {
  status: string;
  events: string[];
  available: string;
  reserved: string;
  postings: string[];
  timesSent: number;
}

/** @throws Error when the events of the payout are not numbered from 1 without a gap */
export async function readRecords(
  world: WorkflowWorld,
  payoutCase: PayoutCase,
): Promise<PayoutRecords> {
  const { id, caller } = payoutCase;
  const events = await world.db.query<{ type: string; sequence: number }>(
    'SELECT type, sequence FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );
  events.forEach(({ sequence }, index) => {
    if (sequence !== index + 1) throw new Error(`events of ${id}: ${JSON.stringify(events)}`);
  });
  const postings = await world.db.query<{ type: string }>(
    `SELECT type FROM ledger_transactions WHERE operation_key LIKE ? ORDER BY balance_version`,
    [`${id}:%`],
  );
  const [balance] = await listBalances(world.db, caller.accountId, caller.mode);
  return {
    status: (await readPayout(world, payoutCase)).status,
    events: events.map(({ type }) => type),
    available: balance?.available ?? '',
    reserved: balance?.reserved ?? '',
    postings: postings.map(({ type }) => type),
    timesSent: (await readBookEntry(world.sandbox.url, id))?.times_sent ?? 0,
  };
}

export async function readHistory({ handle }: Pick<PayoutCase, 'handle'>): Promise<History> {
  return handle.fetchHistory();
}

/** temporal.api.enums.v1.WorkflowTaskFailedCause: a signal arrived during the task. */
const UNHANDLED_COMMAND = 1;

/** What went wrong in the workflow's own code: nothing, if it can take everything. */
export async function readTaskFailures(payoutCase: PayoutCase): Promise<string[]> {
  const { events } = await readHistory(payoutCase);
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null || Number(failed.cause) === UNHANDLED_COMMAND
      ? []
      : [failed.failure?.message ?? `cause ${failed.cause ?? 'unknown'}`],
  );
}

/** Runs restart-missing until it has found the terminated payout: visibility is delayed. */
export async function restartMissing(world: WorkflowWorld, payoutCase: PayoutCase): Promise<void> {
  await waitFor(`a new workflow for ${payoutCase.id}`, async () => {
    await world.temporal.workflow.execute(WORKFLOWS.restartMissing, {
      workflowId: `restart-missing-${randomBytes(6).toString('hex')}`,
      taskQueue: TASK_QUEUES.payouts,
    });
    const { status } = await payoutCase.handle.describe();
    return status.name !== 'TERMINATED';
  });
}
