/**
 * The workflows of payouts and payments with everything real around it: database, Temporal namespace, sandbox over
 * HTTP, the provider's callbacks. The worker runs inside the test, so that its activities can be
 * made to fail; payouts are created and cancelled through the service.
 */
import type { Amount } from '../../../src/domain/money';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { Client } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { type Activities, createActivities } from '../../../activities';
import { LocalCalls } from '../../../activities/local-calls';
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import type { ProviderRegistry } from '../../../src/adapters/providers/registry';
import { startSandbox, type Sandbox } from '../../../src/rails/sandbox/server';
import { createScreeningService } from '../../../src/adapters/screening/service';
import { createNetworkFees } from '../../../src/kit/service/network-fees';
import {
  checkRows,
  createPayoutBatches,
  type PayoutBatches,
} from '../../../src/features/payout-batches/payout-batches';
import {
  createPayoutSchedules,
  type PayoutSchedules,
} from '../../../src/features/payout-schedules/payout-schedules';
import { createScheduleRunWorkflows } from '../../../src/temporal/schedule-run-workflows';
import { createAdmission } from '../../../src/kit/service/admission';
import { createPayments } from '../../../src/features/payments/payments';
import {
  createPayoutScreenings,
  type PayoutScreenings,
} from '../../../src/features/payouts/payout-screenings';
import { createPayouts } from '../../../src/features/payouts/payouts';
import { createProviderCallbacks } from '../../../src/shell/api/provider-callbacks';
import type { Payments, Payouts, ProviderCallbacks } from '../../../src/kit/service/services';
import { createClosedWorkflows } from '../../../src/temporal/visibility';
import {
  createPaymentWorkflows,
  type PaymentWorkflows,
} from '../../../src/temporal/payment-workflows';
import { createPayoutBatchWorkflows } from '../../../src/temporal/payout-batch-workflows';
import {
  createPayoutWorkflows,
  type PayoutWorkflows,
} from '../../../src/temporal/payout-workflows';
import { PAYLOAD_CONVERTER_PATH } from '../../../src/temporal/worker';
import { MODES } from '../../../src/domain/mode';
import { PROVIDER_CODES } from '../../../src/domain/provider-codes';
import { providerQueue, TASK_QUEUES } from '../../../workflows/names';
import { connectProviders, makeCredentials, startHttpServer } from './sandbox';
import { type FaultPlan, withFaults } from '../chaos/activity-faults';
import { createTestDatabase } from './database';
import { createWebhookParts } from '../webhook/webhook-parts';
import { waitFor } from '../wait-for';
import { createNamespace } from './gateway';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

export interface WorkflowWorld {
  /** With the owner's rights. */
  db: Db;
  temporal: Client;
  sandbox: Sandbox;
  providers: ProviderRegistry;
  /** What its worker runs. */
  activities: Activities;
  screenings: PayoutScreenings;
  /** @param onStart told the payout's id before its workflow starts, to plan its faults */
  payouts(onStart?: OnStart): Payouts;
  payments(onStart?: (paymentId: string) => void): Payments;
  payoutBatches: PayoutBatches;
  payoutSchedules: PayoutSchedules;
  /** @param id of a payout or a payment */
  planFaults(id: string, plan: FaultPlan): void;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Creates an object while no worker polls, and signals its workflow before its first step. A busy
 * machine may answer 503: the request is sent again under another id, which is signalled too.
 * @returns waits for the creation
 */
export async function signalFirst<Case>(
  { temporal }: Pick<WorkflowWorld, 'temporal'>,
  signal: string,
  create: (onStart: (id: string) => void) => Promise<Case>,
): Promise<() => Promise<Case>> {
  const send = async (id: string): Promise<void> => {
    const handle = temporal.workflow.getHandle(id);
    await waitFor('the workflow to exist', async () => handle.describe().catch(() => undefined));
    await handle.signal(signal, { by: 'early' });
  };
  let creating: Promise<Case> | undefined;
  await new Promise<void>((resolve, reject) => {
    creating = create((id) => void send(id).then(resolve, reject));
    creating.catch(reject);
  });
  return () => creating!;
}

export type OnStart = (id: string) => void | Promise<void>;

/** Longer than any answer takes here; the branches whose answer never comes wait for it. */
const PROVIDER_TIMEOUT_MS = 5_000;

export const CONSOLE_URL = 'https://ops.example.com/console';

const PROVIDER_QUEUES = PROVIDER_CODES.flatMap((provider) =>
  MODES.map((mode) => providerQueue({ provider, mode })),
);

/** The time limit of the screening service, which is asked once a test requires it. */
const SCREENING_TIMEOUT_MS = 3_000;

const OBJECTS = ['payouts', 'payments'] as const;

/** Recovered payouts have a queue of their own. */
const QUEUES_OF = {
  payouts: [TASK_QUEUES.payouts, TASK_QUEUES.batches],
  payments: [TASK_QUEUES.payments],
} as const;

/**
 * @param only whose task queues its worker polls, if one is enough: each queue takes a second to start
 * @param rates activities per second of a task queue
 */
export async function startWorkflowWorld(
  only?: (typeof OBJECTS)[number],
  rates: Readonly<Record<string, number>> = {},
  signalApprovalMax?: ReadonlyMap<string, Amount>,
): Promise<WorkflowWorld> {
  const taskQueues = (only === undefined ? OBJECTS : [only]).flatMap((one) => QUEUES_OF[one]);
  quietRuntime();
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const credentials = makeCredentials();
  const screeningKey = randomBytes(24).toString('hex');
  const [database, connection, sandbox] = await Promise.all([
    createTestDatabase(),
    createNamespace(address, namespace),
    startSandbox({
      settleMs: 50,
      callbackRetryMs: [200, 500, 1_000],
      credentials,
      screeningKey,
    }),
  ]);
  const db = connect({ url: database.ownerUrl, size: 6, applicationName: 'test' });
  const apiDb = connect({ url: database.apiUrl, size: 10, applicationName: 'gateway-test' });
  const workerDb = connect({ url: database.workerUrl, size: 20, applicationName: 'gateway-test' });
  const temporal = new Client({ connection, namespace });
  const providers = connectProviders(sandbox, credentials, PROVIDER_TIMEOUT_MS);
  const networkFees = createNetworkFees(providers);
  const screeningService = createScreeningService({
    url: sandbox.screeningUrl,
    apiKey: screeningKey,
    timeoutMs: SCREENING_TIMEOUT_MS,
  });
  const payoutWorkflows = createPayoutWorkflows(temporal);
  const payoutBatchWorkflows = createPayoutBatchWorkflows(temporal);
  const paymentWorkflows = createPaymentWorkflows(temporal);
  const webhooks = createWebhookParts(workerDb, temporal);
  const { secretBox } = webhooks;
  const parts = {
    secretBox,
    db: workerDb,
    providers,
    networkFees,
    payoutWorkflows,
    payoutBatchWorkflows,
    paymentWorkflows,
  };
  const receiver = await startCallbackReceiver(createProviderCallbacks({ ...parts, db: apiDb }));
  sandbox.setCallbackBaseUrl(receiver.url);

  const plans = new Map<string, FaultPlan>();
  const closedWorkflows = createClosedWorkflows(temporal);
  const activities = withFaults(
    createActivities({
      ...parts,
      checkRows: (requester, orders) => checkRows(parts, requester, orders),
      decimalsOf: networkFees.decimals,
      scheduleRunWorkflows: createScheduleRunWorkflows(temporal),
      ...webhooks,
      screeningService,
      closedWorkflows,
      consoleUrl: CONSOLE_URL,
      dashboardUrl: CONSOLE_URL,
      signalApprovalMax,
      mail: null,
      evidenceKey: null,
      pages: { dashboard: CONSOLE_URL, console: CONSOLE_URL },
      lateAfter: { reviewMinutes: 60, doubtMinutes: 15 },
      chatModeOfOperators: 'test' as const,
      localCalls: new LocalCalls(PROVIDER_QUEUES.filter((queue) => !(queue in rates))),
    }),
    (payoutId) => plans.get(payoutId),
  );
  const requests = { db: apiDb, shortStatements: apiDb };
  const native = await NativeConnection.connect({ address });
  const worker = workerSwitch(native, namespace, activities, taskQueues, rates);
  await worker.start();
  return {
    db,
    temporal,
    sandbox,
    providers,
    activities,
    screenings: createPayoutScreenings({ ...parts, db, screeningService }),
    payouts: (onStart) =>
      createPayouts({
        ...parts,
        evidenceKey: null,
        db: apiDb,
        shortStatements: apiDb,
        payoutWorkflows: announced(payoutWorkflows, onStart),
        admission: createAdmission({ promptMs: 1_000, atOnce: null }),
      }),
    payments: (onStart = () => undefined) => {
      const open: PaymentWorkflows['open'] = (start, deadlineMs) => {
        onStart(start.paymentId);
        return paymentWorkflows.open(start, deadlineMs);
      };
      return createPayments({
        ...parts,
        db: apiDb,
        shortStatements: apiDb,
        paymentWorkflows: { ...paymentWorkflows, open },
        admission: createAdmission({ promptMs: 4_000, atOnce: null }),
      });
    },
    payoutBatches: createPayoutBatches({ ...parts, ...requests }),
    payoutSchedules: createPayoutSchedules({ ...parts, ...requests }),
    planFaults: (payoutId, plan) => void plans.set(payoutId, plan),
    startWorker: worker.start,
    stopWorker: worker.stop,
    stop: async () => {
      await worker.stop();
      await webhooks.webhookDeliveryStarter.drain();
      await receiver.stop();
      await Promise.all([providers.close(), screeningService.close(), sandbox.stop()]);
      await Promise.all([
        native.close(),
        connection.close(),
        db.destroy(),
        apiDb.destroy(),
        workerDb.destroy(),
      ]);
      await database.drop();
    },
  };
}

/** Faults on purpose are warnings of the SDK, hundreds of them. */
export function quietRuntime(): void {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR', () => undefined),
      telemetryOptions: { logging: { filter, forward: {} } },
    });
  } catch (error) {
    // Another part of the room has installed it, and still uses it.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

function announced(
  workflows: PayoutWorkflows,
  onStart: OnStart = () => undefined,
): PayoutWorkflows {
  return {
    ...workflows,
    reserve: async (start, deadlineMs) => {
      await onStart(start.payoutId);
      return workflows.reserve(start, deadlineMs);
    },
  };
}

/** What src/shell/api does with a provider's callback, without the rest of the API. */
function startCallbackReceiver(callbacks: ProviderCallbacks) {
  return startHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, , provider = '', mode = ''] = (request.url ?? '').split('/');
      void take(callbacks, provider, mode, request.headers, Buffer.concat(chunks), response);
    });
  });
}

async function take(
  callbacks: ProviderCallbacks,
  provider: string,
  mode: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  try {
    await callbacks.receive(provider, mode, headers, body);
    response.writeHead(200).end();
  } catch {
    response.writeHead(503).end();
  }
}

function workerSwitch(
  connection: NativeConnection,
  namespace: string,
  activities: object,
  taskQueues: readonly string[],
  rates: Readonly<Record<string, number>>,
) {
  const workflowBundle = { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' };
  const start = async (taskQueue: string, runsWorkflows: boolean) => {
    const rate = rates[taskQueue];
    const worker = await Worker.create({
      ...(rate === undefined ? {} : { maxTaskQueueActivitiesPerSecond: rate }),
      connection,
      namespace,
      taskQueue,
      ...(runsWorkflows ? { workflowBundle } : { maxConcurrentActivityTaskPolls: 2 }),
      activities,
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
      shutdownGraceTime: '1500 ms',
      shutdownForceTime: '2 seconds',
    });
    return { worker, ended: worker.run().catch(ignoreStillInUse) };
  };
  let running: { worker: Worker; ended: Promise<void> }[] = [];
  return {
    start: async () => {
      running = await Promise.all([
        ...taskQueues.map((taskQueue) => start(taskQueue, true)),
        ...PROVIDER_QUEUES.map((taskQueue) => start(taskQueue, false)),
      ]);
    },
    stop: async () => {
      const stopping = running;
      running = [];
      for (const { worker } of stopping) worker.shutdown();
      await Promise.all(stopping.map(({ ended }) => ended));
    },
  };
}

/**
 * On a busy machine the SDK sometimes finalizes a worker that has stopped while its native part
 * still holds it (IllegalStateError). Its work is done by then.
 */
export function ignoreStillInUse(error: unknown): void {
  if (!(error instanceof Error) || !error.message.startsWith('Worker still in use')) throw error;
}

type History = Parameters<typeof historyToJSON>[0];

export function writeHistory(folder: string, name: string, history: History): void {
  const { events } = JSON.parse(historyToJSON(history)) as { events: object[] };
  mkdirSync(folder, { recursive: true });
  const lines = events.map((event) => JSON.stringify(event)).join(',\n');
  writeFileSync(join(folder, `${name}.json`), `{"events":[\n${lines}\n]}\n`);
}
