/**
 * A chain whose process has died goes on at once. PostgreSQL frees the dead process's lock in a moment,
 * but Temporal starts the next attempt of `runChain` only when the heartbeats have been missing for
 * some time. So a wallet that sees a running attempt and nobody who has the lock tells Temporal that
 * the attempt has failed. If it is wrong, an attempt starts again; the lock decides who works.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ActivityNotFoundError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { chainWorkflowId } from '../../../../workflows/wallet/names';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import { findPause } from '../chain/pause';
import type { Log } from '../config';
import { type Database, findLockHolder } from '../db/database';
import { chainLock, type ChainRun } from './chain-run';

interface TakeoverParts {
  client: Client;
  db: Database;
  log: Log;
}

interface Attempt {
  runId: string;
  activityId: string;
  attempt: number;
}

/** A process that has just got the activity takes the lock within this time, also after a pause. */
const CERTAIN_AFTER_MS = 1_000;
const DEADLINE_MS = 5_000;
/** temporal.api.enums.v1.PendingActivityState */
const STARTED = 2;

/** What an operator reads as the last failure of the activity. */
export const PROCESS_ENDED = 'The process that worked on the chain has ended.';

export async function releaseDeadProcess(parts: TakeoverParts, run: ChainRun): Promise<void> {
  const first = await findAbandoned(parts, run);
  if (first === null) return;
  await wait(CERTAIN_AFTER_MS);
  const second = await findAbandoned(parts, run);
  if (second === null || !isDeepStrictEqual(first, second)) return;
  const { mode, name } = run.network;
  parts.log('warn', 'another process has ended while it worked on the chain', {
    mode,
    network: name,
  });
  await endAttempt(parts.client, chainWorkflowId(run.network.chainId), second);
}

/** The attempt that Temporal thinks is running, while neither this process nor another one works. */
async function findAbandoned(
  { client, db }: TakeoverParts,
  run: ChainRun,
): Promise<Attempt | null> {
  const { chainId } = run.network;
  if (run.isRunning() || (await findLockHolder(db, chainLock(chainId))) !== null) return null;
  // The activity of a paused chain has no lock.
  if ((await findPause(db, chainId)) !== null) return null;
  const handle = client.workflow.getHandle(chainWorkflowId(chainId));
  const { raw, runId } = await client.withDeadline(wallClockMs() + DEADLINE_MS, () =>
    handle.describe(),
  );
  const pending = raw.pendingActivities?.find(
    ({ activityType, state }) => activityType?.name === 'runChain' && Number(state) === STARTED,
  );
  if (pending == null) return null;
  return { runId, activityId: pending.activityId ?? '', attempt: pending.attempt ?? 0 };
}

async function endAttempt(
  client: Client,
  workflowId: string,
  { runId, activityId }: Attempt,
): Promise<void> {
  const failure = ApplicationFailure.create({
    message: PROCESS_ENDED,
    // The chain is taken over at once, however often processes have died.
    nextRetryDelay: '1 millisecond',
  });
  try {
    await client.withDeadline(wallClockMs() + DEADLINE_MS, () =>
      client.activity.fail({ workflowId, runId, activityId }, failure),
    );
  } catch (error) {
    // Another process was faster, or the attempt has ended.
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
