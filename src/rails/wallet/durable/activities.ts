/** The activities of the wallet's workflows, for one chain. */
import { Context } from '@temporalio/activity';
import type { WalletActivities } from '../../../../workflows/wallet/messages';
import { awaitFunding, awaitSweep, fundSweep, sendSweep, type SweepParts } from '../sweep/steps';
import { endSweep } from '../sweep/store';

const BEAT_MS = 1_000;

export function createWalletActivities(parts: SweepParts): WalletActivities {
  return {
    fundSweep: (id) => fundSweep(parts, id),
    awaitFunding: (id) => beating((signal) => awaitFunding(parts, id, signal)),
    sendSweep: (id) => beating((signal) => sendSweep(parts, id, signal)),
    awaitSweep: (id) => beating((signal) => awaitSweep(parts, id, signal)),
    endSweep: (id, failure) => endSweep(parts.db, id, failure),
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
