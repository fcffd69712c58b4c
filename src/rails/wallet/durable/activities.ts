/** The activities of the wallet's workflows, for one chain. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { AlarmState, WalletActivities } from '../../../../workflows/wallet/messages';
import { acknowledgeAlarm, findAlarm, resolveAlarm } from '../alarm-decisions';
import { pauseWholeChain, resumeWholeChain } from '../chain/pause';
import { awaitFunding, awaitSweep, fundSweep, sendSweep, type SweepParts } from '../sweep/steps';
import { endSweep } from '../sweep/store';
import type { ChainRun } from './chain-run';

/** A turn of the workflow: six an hour for an idle chain. */
export const TURN_MS = 600_000;
const BEAT_MS = 1_000;

export interface ActivityParts extends SweepParts {
  run: ChainRun;
  turnMs: number;
}

export function createWalletActivities(parts: ActivityParts): WalletActivities {
  const { db, run, turnMs } = parts;
  return {
    runChain: ({ chainId, pause }) =>
      beating((signal) => {
        requireSame(run, chainId);
        return run.run({ known: pause, ms: turnMs, signal });
      }),
    changePause: async ({ chainId, kind, by, reason }) => {
      requireSame(run, chainId);
      if (kind === 'pause') await pauseWholeChain(db, chainId, { by, reason });
      else await resumeWholeChain(db, chainId, by);
    },
    readAlarm: (id) => readAlarm(parts, id, null),
    decideAlarm: async ({ alarmId, kind, by, reason }) => {
      if (kind === 'acknowledge') {
        await acknowledgeAlarm(db, alarmId, by);
        return readAlarm(parts, alarmId, null);
      }
      const refusal = await resolveAlarm(db, alarmId, { by, reason: reason ?? '' });
      return readAlarm(parts, alarmId, refusal);
    },
    fundSweep: (id) => fundSweep(parts, id),
    awaitFunding: (id) => beating((signal) => awaitFunding(parts, id, signal)),
    sendSweep: (id) => beating((signal) => sendSweep(parts, id, signal)),
    awaitSweep: (id) => beating((signal) => awaitSweep(parts, id, signal)),
    endSweep: (id, failure) => endSweep(db, id, failure),
  };
}

/** The heartbeat says that the process lives, and brings the news that another one has the work. */
async function beating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => {
    context.heartbeat();
  }, BEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}

/** A task queue has one chain, unless somebody started a workflow by hand. */
function requireSame({ network }: ChainRun, chainId: number): void {
  if (network.chainId === chainId) return;
  throw ApplicationFailure.nonRetryable(`This task queue is of chain ${network.chainId}.`);
}

async function readAlarm(
  { db }: ActivityParts,
  id: string,
  refusal: string | null,
): Promise<AlarmState> {
  const alarm = await findAlarm(db, id);
  // An older database: there is nothing to end.
  if (alarm === null) {
    const over = { isOpen: false, acknowledgedBy: null, resolvedBy: null, resolution: null };
    return { detail: 'The alarm is not in the database.', ...over, refusal };
  }
  const { detail, isOpen, acknowledgedBy, resolvedBy, resolution } = alarm;
  return { detail, isOpen, acknowledgedBy, resolvedBy, resolution, refusal };
}
