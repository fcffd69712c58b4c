/** The Temporal workers: workflow code and the activities behind it. */
import {
  bundleWorkflowCode,
  type LogEntry,
  DefaultLogger,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import type { WorkerQueue } from '../domain/worker-queues';
import type { SdkExporter } from '../platform/lib/temporal-sdk-metrics';
import type { TemporalOptions } from './connection';
import { openNativeConnection } from './probe';
import { REPLACED_CLOSES_AFTER_MS, replaceable, type Replaceable } from './replaceable';
import { TRACE_OF_ACTIVITIES } from './trace';

export interface ProviderQueue {
  taskQueue: string;
  /** The calls per second of all workers together; null if not limited. */
  callsPerSecond: number | null;
}

/** The version of a worker, by which Temporal decides which worker takes which workflow. */
export interface WorkerDeployment {
  deploymentName: string;
  buildId: string;
}

export interface WorkerSpec {
  connection: WorkerConnection;
  namespace: string;
  queues: readonly WorkerQueue[];
  providerQueues: readonly ProviderQueue[];
  /** Short transactions of all queues together, each of which takes a database connection. */
  maxTransactions: number;
  /** Calls to providers in local activities, which need no database connection most of the time. */
  maxLocalCalls: number;
  /** Null if workers have no versions. */
  deployment: WorkerDeployment | null;
  maxCachedWorkflows: number;
  /** The time that a graceful stop waits for running activities; then they time out. */
  shutdownGraceMs: number;
  /** Path of a prebuilt bundle (`npm run build`), or null: bundle the sources now. */
  workflowBundle: string | null;
  activities: object;
}

/** What still runs after the grace period has this long to be cancelled. */
const FORCE_AFTER_GRACE_MS = 500;

export const PAYLOAD_CONVERTER_PATH = require.resolve('../../workflows/payload-converter');
export const WORKFLOWS_PATH = require.resolve('../../workflows');
const TRACE_PATH = require.resolve('../../workflows/trace');

/**
 * The SDK warns about a queue with activities only, such as those of providers. That is intended here.
 */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

/**
 * Sends the SDK's logs to our logger and its metrics to the exporter, if there is one. Once per process,
 * before any other use of the SDK.
 */
export function installTemporalRuntime(logger: Logger, exporter: SdkExporter | null): void {
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      if (entry.message !== NO_WORKFLOWS) log(logger, entry);
    }),
    ...(exporter === null ? {} : { telemetryOptions: exporter.telemetry }),
  });
}

export interface RunningWorker {
  /** Rejects when the worker fails. */
  ended: Promise<void>;
  stop(): Promise<void>;
  /** Uses the new connection from now on. */
  renew(next: NativeConnection): void;
}

/** Webhook attempts mostly wait for responses, so one process can run many. */
const ATTEMPTS_AT_ONCE = 200;

/** Workflow tasks with a call to a provider last as long as the call. */
const WORKFLOW_TASKS_AT_ONCE = 100;

/**
 * Rows of batches, runs of schedules and recovered payouts: few at once, because what they cost in
 * Temporal and PostgreSQL delays the payouts of others as well. Two is the least that the SDK takes.
 */
const BATCH_TASKS_AT_ONCE = 2;
/** Steps of batches and schedules, each of which takes a database connection. */
const BATCH_ACTIVITIES_AT_ONCE = 4;
/** Those that have been released and not yet accepted, of two batches. */
const BATCH_WORKFLOWS_CACHED = 64;

/**
 * The default is ten, which is too many for a process with a task queue for each provider and mode.
 */
const PROVIDER_POLLS = 4;

/** The connection of the workers. A client that shares it can start workflows eagerly. */
export interface WorkerConnection extends Replaceable<NativeConnection> {
  close(): Promise<void>;
}

/** @throws SetupError that names the cause */
export async function connectWorkers(options: TemporalOptions): Promise<WorkerConnection> {
  const open = replaceable(await openNativeConnection(options));
  return { ...open, close: () => open.current().close() };
}

/** One worker for each task queue of the process; they share the connection and the bundle. */
export async function startWorkers(spec: WorkerSpec): Promise<RunningWorker> {
  const workflowBundle =
    spec.workflowBundle === null ? await bundleWorkflows() : { codePath: spec.workflowBundle };
  const workers = await Promise.all(
    optionsOf(spec).map(({ runsWorkflows, ...options }) =>
      Worker.create({
        maxCachedWorkflows: spec.maxCachedWorkflows,
        ...options,
        // The worker gets the connection itself and not the replaceable one, because it is told when it
        // is replaced.
        connection: spec.connection.current(),
        namespace: spec.namespace,
        ...(runsWorkflows ? { workflowBundle } : {}),
        activities: spec.activities,
        interceptors: { activity: [() => TRACE_OF_ACTIVITIES] },
        dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
        ...(spec.deployment === null
          ? {}
          : {
              workerDeploymentOptions: {
                version: spec.deployment,
                useWorkerVersioning: true,
                // A payout may be open for weeks, so it moves to the current version, behind
                // `patched()`.
                defaultVersioningBehavior: 'AUTO_UPGRADE',
              },
            }),
        // A dead worker is noticed after a few seconds: its activities by their heartbeats, its
        // cached workflows by tasks that nobody takes.
        maxHeartbeatThrottleInterval: '1500 ms',
        stickyQueueScheduleToStartTimeout: '4 seconds',
        shutdownGraceTime: spec.shutdownGraceMs,
        shutdownForceTime: spec.shutdownGraceMs + FORCE_AFTER_GRACE_MS,
      }),
    ),
  );
  const runs = workers.map((worker) => worker.run());
  const ended = Promise.race(runs);
  return {
    ended,
    stop: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.allSettled(runs);
    },
    renew: (next) => {
      const replaced = spec.connection.current();
      for (const worker of workers) worker.connection = next;
      spec.connection.replace(next);
      setTimeout(() => void replaced.close(), REPLACED_CLOSES_AFTER_MS).unref();
    },
  };
}

interface QueueOptions extends Pick<
  WorkerOptions,
  | 'maxCachedWorkflows'
  | 'maxConcurrentActivityTaskExecutions'
  | 'maxConcurrentActivityTaskPolls'
  | 'maxConcurrentLocalActivityExecutions'
  | 'maxConcurrentWorkflowTaskExecutions'
  | 'maxTaskQueueActivitiesPerSecond'
> {
  taskQueue: string;
  runsWorkflows: boolean;
}

/** The options of each task queue that the process takes. */
function optionsOf(spec: WorkerSpec): QueueOptions[] {
  const { queues, providerQueues } = spec;
  return queues.flatMap((queue): QueueOptions[] => {
    switch (queue) {
      case 'payouts':
      case 'payments':
        return [
          {
            taskQueue: queue,
            runsWorkflows: true,
            maxConcurrentLocalActivityExecutions: transactionsOf(spec) + spec.maxLocalCalls,
            maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_AT_ONCE,
          },
        ];
      case 'batches':
        return [
          {
            taskQueue: queue,
            runsWorkflows: true,
            maxCachedWorkflows: Math.min(BATCH_WORKFLOWS_CACHED, spec.maxCachedWorkflows),
            maxConcurrentActivityTaskExecutions: BATCH_ACTIVITIES_AT_ONCE,
            maxConcurrentLocalActivityExecutions: BATCH_TASKS_AT_ONCE,
            maxConcurrentWorkflowTaskExecutions: BATCH_TASKS_AT_ONCE,
          },
        ];
      case 'webhooks':
        return [
          {
            taskQueue: queue,
            runsWorkflows: true,
            maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE,
            // First attempts are local activities, so a workflow task lasts as long as they do.
            maxConcurrentLocalActivityExecutions: ATTEMPTS_AT_ONCE,
            maxConcurrentWorkflowTaskExecutions: ATTEMPTS_AT_ONCE,
          },
        ];
      case 'webhooks-retry':
        return [
          {
            taskQueue: queue,
            runsWorkflows: false,
            maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE,
          },
        ];
      case 'providers':
        return providerQueues.map(({ taskQueue, callsPerSecond }) => ({
          taskQueue,
          runsWorkflows: false,
          maxConcurrentActivityTaskPolls: PROVIDER_POLLS,
          ...(callsPerSecond === null ? {} : { maxTaskQueueActivitiesPerSecond: callsPerSecond }),
        }));
    }
  });
}

/** Each queue has an equal share, so that one cannot take every connection. */
function transactionsOf({ maxTransactions, queues }: WorkerSpec): number {
  return Math.max(2, Math.floor(maxTransactions / queues.length));
}

export function bundleWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    workflowInterceptorModules: [TRACE_PATH],
    payloadConverterPath: PAYLOAD_CONVERTER_PATH,
    logger: new DefaultLogger('WARN'),
  });
}

function log(logger: Logger, { level, message, meta }: LogEntry): void {
  const fields = { ...meta };
  switch (level) {
    case 'ERROR':
      logger.error(fields, message);
      return;
    case 'WARN':
      logger.warn(fields, message);
      return;
    case 'INFO':
      logger.info(fields, message);
      return;
    case 'DEBUG':
    case 'TRACE':
      logger.debug(fields, message);
  }
}
