/** The Temporal workers: workflow code and the activities behind it. */
import {
  bundleWorkflowCode,
  type LogEntry,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { TASK_QUEUES } from '../../workflows/names';

export interface WorkerSpec {
  address: string;
  namespace: string;
  maxCachedWorkflows: number;
  /** How long an orderly stop waits for running activities; then they are left to their time-outs. */
  shutdownGraceMs: number;
  /** Path of a bundle made before (`npm run build`), or null: bundle the sources now. */
  workflowBundle: string | null;
  activities: object;
}

/** From the end of the grace on: time to give up what still runs. */
const FORCE_AFTER_GRACE_MS = 500;

export const PAYLOAD_CONVERTER_PATH = require.resolve('../../workflows/payload-converter');
export const WORKFLOWS_PATH = require.resolve('../../workflows');

/** Sends the SDK's log lines into ours. Once per process, before anything else of the SDK. */
export function installTemporalLogger(logger: Logger): void {
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      log(logger, entry);
    }),
  });
}

export interface RunningWorker {
  /** Rejects when the worker fails. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** Attempts at webhooks mostly wait for somebody's answer: more of them fit into one process. */
const ATTEMPTS_AT_ONCE = 200;

/** One worker for each task queue; they share the connection and the bundle. */
export async function startWorkers(spec: WorkerSpec): Promise<RunningWorker> {
  const connection = await NativeConnection.connect({ address: spec.address });
  const workflowBundle =
    spec.workflowBundle === null ? await bundleWorkflows() : { codePath: spec.workflowBundle };
  const workers = await Promise.all(
    Object.values(TASK_QUEUES).map((taskQueue) =>
      Worker.create({
        connection,
        namespace: spec.namespace,
        taskQueue,
        ...(taskQueue === TASK_QUEUES.webhooksRetry ? {} : { workflowBundle }),
        ...(isWebhooks(taskQueue) ? { maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE } : {}),
        activities: spec.activities,
        dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
        maxCachedWorkflows: spec.maxCachedWorkflows,
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
      await connection.close();
    },
  };
}

function isWebhooks(taskQueue: string): boolean {
  return taskQueue === TASK_QUEUES.webhooks || taskQueue === TASK_QUEUES.webhooksRetry;
}

export function bundleWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
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
