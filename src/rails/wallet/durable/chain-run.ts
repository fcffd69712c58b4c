/**
 * The work on one chain: its follower and its sender, in one process at a time. The activity
 * `runChain` calls it; the lock in PostgreSQL and the row of the pause decide, so that neither an old
 * activity nor a lost Temporal server lets two processes work or a paused chain go on.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ChainPause, ChainReport, ChainState } from '../../../../workflows/wallet/messages';
import { findPause } from '../chain/pause';
import type { Log } from '../config';
import type { Database } from '../db/database';
import type { Loop } from '../loop';
import type { Network } from '../networks';
import { stopOnOlderDatabase } from '../sender/older-database';

export interface ChainParts {
  network: Network;
  db: Database;
  log: Log;
  /** Each starts one loop: follower and sender. */
  loops: readonly (() => Loop)[];
}

export interface ChainRun {
  network: Network;
  /** Works until the pause is another one than `known`, or the time is over, or the signal. */
  run(until: RunUntil): Promise<ChainState>;
  /** Whether a call of `run` has not returned. */
  isRunning(): boolean;
  /** Payouts were queued: the sender need not wait for its next round. */
  wake(): void;
}

export interface RunUntil {
  known: ChainPause | null;
  ms: number;
  signal: AbortSignal;
}

/** How soon a pause of another process is seen. */
const LOOK_MS = 500;

export function chainLock(chainId: number): string {
  return `chain ${chainId}`;
}

export function createChainRun({ network, db, log, loops }: ChainParts): ChainRun {
  const { chainId, mode, name } = network;
  let running: readonly Loop[] = [];
  let calls = 0;

  /** @returns the pause that ended it, or the known one */
  const waitWhileSame = async ({ known, signal }: RunUntil, endsAt: number) => {
    for (;;) {
      const pause = await findPause(db, chainId);
      const isOver = signal.aborted || performance.now() >= endsAt;
      if (isOver || pause?.at !== known?.at) return pause;
      await sleep(LOOK_MS, signal);
    }
  };

  const work = async (until: RunUntil, endsAt: number): Promise<ChainPause | null> => {
    log('info', 'working on the chain', { mode, network: name });
    // PostgreSQL may have been restored while this process waited for it.
    await stopOnOlderDatabase(db);
    running = loops.map((start) => start());
    try {
      return await waitWhileSame(until, endsAt);
    } finally {
      const stopping = running;
      running = [];
      await Promise.all(stopping.map((loop) => loop.stop()));
    }
  };

  const run = async (until: RunUntil): Promise<ChainState> => {
    const endsAt = performance.now() + until.ms;
    for (;;) {
      let pause = await findPause(db, chainId);
      if (pause?.at === until.known?.at) {
        if (pause !== null) pause = await waitWhileSame(until, endsAt);
        else {
          const result = await db.withLock(chainLock(chainId), async (lost) => {
            const signal = AbortSignal.any([until.signal, lost]);
            return { pause: await work({ ...until, signal }, endsAt) };
          });
          if (result === null) await sleep(LOOK_MS, until.signal);
          else pause = result.pause;
        }
      }
      const isOver = until.signal.aborted || performance.now() >= endsAt;
      if (isOver || pause?.at !== until.known?.at) {
        return { pause, report: await readReport(db, chainId) };
      }
    }
  };
  return {
    network,
    run: async (until) => {
      calls += 1;
      try {
        return await run(until);
      } finally {
        calls -= 1;
      }
    },
    isRunning: () => calls > 0,
    wake: () => {
      for (const loop of running) loop.wake();
    },
  };
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

async function readReport(db: Database, chainId: number): Promise<ChainReport> {
  const [followed] = await db.query<{ head: string; final: string }>(
    `SELECT head_number AS head, final_number AS final FROM wallet.followed_chain
     WHERE chain_id = $1`,
    [chainId],
  );
  const [counts] = await db.query<{ queued: number; in_flight: number; alarms: string[] }>(
    `SELECT
       (SELECT count(*)::int FROM wallet.transfer
        WHERE chain_id = $1 AND status = 'queued') AS queued,
       (SELECT count(*)::int FROM wallet.slot
        WHERE chain_id = $1 AND state = 'open') AS in_flight,
       (SELECT coalesce(array_agg(kind || ' (' || subject || ')' ORDER BY raised_at), '{}') FROM (
          SELECT kind, subject, raised_at FROM wallet.alarm
          WHERE chain_id = $1 AND cleared_at IS NULL ORDER BY raised_at LIMIT 20) AS open) AS alarms`,
    [chainId],
  );
  return {
    at: new Date().toISOString(),
    head: followed === undefined ? null : Number(followed.head),
    final: followed === undefined ? null : Number(followed.final),
    queued: counts?.queued ?? 0,
    inFlight: counts?.in_flight ?? 0,
    alarms: counts?.alarms ?? [],
  };
}
