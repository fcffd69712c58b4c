/**
 * The wallet's Temporal workers: one for the sweeps of each chain, on a task queue of its own. They start when
 * Temporal answers, and again after it was lost; nothing else waits for them.
 */
import type { Client } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  type NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { walletQueue } from '../../../../workflows/wallet/names';
import type { Chain } from '../chain/chain';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { joinLoops, type Loop, startLoop } from '../loop';
import { createWalletActivities } from './activities';
import { startKeeper } from './keeper';

export interface TemporalParts {
  client: Client;
  connect: () => Promise<NativeConnection>;
  namespace: string;
  /** Path of a prebuilt bundle (`npm run build`), or null: bundle the sources now. */
  workflowBundle: string | null;
}

export interface DurableParts {
  db: Database;
  log: Log;
  chains: readonly Chain[];
}

const RETRY_MS = 2_000;
/** Activities that were told to stop have this time: a step of a loop lasts as long as its call to a node. */
const FORCE_MS = 20_000;
const POLLS = 2;
const CACHED_WORKFLOWS = 50;

export const PAYLOAD_CONVERTER = require.resolve('../../../../workflows/payload-converter');

/** While Temporal does not answer, sweeps wait. */
export function startDurable(temporal: TemporalParts, parts: DurableParts): Loop {
  const { db, log, chains } = parts;
  const networks = chains.map(({ network }) => network);
  return joinLoops([
    startKeeper({ client: temporal.client, db, networks, log }),
    startLoop('working on sweeps', log, RETRY_MS, (signal) => workOnce(temporal, parts, signal)),
  ]);
}

/** Runs until the signal. @throws when Temporal cannot be reached or a worker fails */
async function workOnce(
  temporal: TemporalParts,
  { db, chains }: DurableParts,
  signal: AbortSignal,
): Promise<undefined> {
  const workflowBundle = await openBundle(temporal.workflowBundle);
  const connection = await temporal.connect();
  const workers: Worker[] = [];
  const shutDown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  try {
    for (const chain of chains) {
      workers.push(
        await Worker.create({
          connection,
          namespace: temporal.namespace,
          workflowBundle,
          taskQueue: walletQueue(chain.network.chainId),
          activities: createWalletActivities({ db, chain }),
          dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER },
          maxConcurrentActivityTaskPolls: POLLS,
          maxConcurrentWorkflowTaskPolls: POLLS,
          maxCachedWorkflows: CACHED_WORKFLOWS,
          // A dead process is noticed after a few seconds.
          maxHeartbeatThrottleInterval: '3 seconds',
          stickyQueueScheduleToStartTimeout: '4 seconds',
          shutdownForceTime: FORCE_MS,
        }),
      );
    }
    const runs = workers.map((worker) => worker.run());
    signal.addEventListener('abort', shutDown);
    if (signal.aborted) shutDown();
    try {
      await Promise.race(runs);
    } finally {
      signal.removeEventListener('abort', shutDown);
      shutDown();
      await Promise.allSettled(runs);
    }
  } finally {
    await connection.close();
  }
}

let bundled: Promise<WorkflowBundleOption> | null = null;

/** The workflows are bundled once in a process. */
function openBundle(path: string | null): Promise<WorkflowBundleOption> {
  if (path !== null) return Promise.resolve({ codePath: path });
  bundled ??= bundleWalletWorkflows();
  return bundled;
}

export function bundleWalletWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: require.resolve('../../../../workflows/wallet'),
    payloadConverterPath: PAYLOAD_CONVERTER,
    logger: new DefaultLogger('WARN'),
  });
}
