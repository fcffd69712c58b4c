/**
 * The work on one chain: its follower and its senders, in one process at a time. The lock in PostgreSQL decides which
 * process, and the row of the pause whether any.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { findPause } from './chain/pause';
import type { Log } from './config';
import { type Database, findLockHolder } from './db/database';
import { joinLoops, type Loop, startLoop } from './loop';
import type { Network } from './networks';
import { noteDatabase } from './sender/older-database';

export interface DriverParts {
  network: Network;
  db: Database;
  log: Log;
  /** Each starts one loop: follower and sender. */
  loops: readonly (() => Loop)[];
}

/** How soon a pause, or the end of another process, is seen. */
const LOOK_MS = 500;

export function chainLock(chainId: number): string {
  return `chain ${chainId}`;
}

/** @returns a loop that is woken when payouts were queued: the sender need not wait for its next round */
export function driveChain({ network, db, log, loops }: DriverParts): Loop {
  const { chainId, mode, name } = network;
  let running: Loop | null = null;

  const work = async (signal: AbortSignal): Promise<void> => {
    log('info', 'working on the chain', { mode, network: name });
    // PostgreSQL may have been restored while this process waited for it.
    await noteDatabase(db);
    running = joinLoops(loops.map((start) => start()));
    try {
      while (!signal.aborted && (await findPause(db, chainId)) === null) {
        await wait(LOOK_MS, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      const stopping = running;
      running = null;
      await stopping.stop();
    }
  };

  const driver = startLoop(`driving ${name}`, log, LOOK_MS, async (signal) => {
    if ((await findPause(db, chainId)) !== null) return undefined;
    if ((await findLockHolder(db, chainLock(chainId))) !== null) return undefined;
    await db.withLock(chainLock(chainId), (lost) => work(AbortSignal.any([signal, lost])));
    return undefined;
  });
  return { wake: () => running?.wake(), stop: () => driver.stop() };
}
