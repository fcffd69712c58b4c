/**
 * The steps of a stored sweep, which its workflow orders. Each is safe to repeat: funding has a
 * reference of its own, and the bytes of a transaction never change.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Chain } from '../chain/chain';
import type { Database } from '../db/database';
import { isPaused } from '../chain/pause';
import { findTransfer } from '../sender/transfers';
import { broadcastSweep, findOutcome, submitFunding } from './run';
import {
  findSweep,
  type StoredSweep,
  storeOutcome,
  storeRefusal,
  type SweepTransaction,
} from './store';

export interface SweepParts {
  db: Database;
  chain: Chain;
}

const POLL_MS = 1_000;
/** A node may have dropped a transaction. */
const RESEND_MS = 30_000;

/** @returns how many addresses get coins */
export async function fundSweep({ db, chain }: SweepParts, id: string): Promise<number> {
  const { transactions } = await requireSweep(db, id);
  let funded = 0;
  for (const { address, funding } of transactions) {
    if (funding === null) continue;
    await submitFunding(db, chain.network, address, funding);
    funded += 1;
  }
  return funded;
}

/**
 * An address whose funding failed is left out, with the reason; the others go on.
 * @returns why the sweep cannot go on, or null
 */
export async function awaitFunding(
  { db, chain }: SweepParts,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { transactions } = await requireSweep(db, id);
  for (const { address, funding } of transactions) {
    for (;;) {
      if (funding === null) break;
      const { isOver, failure } = await requireSweep(db, id);
      if (isOver) return failure;
      const transfer = await findTransfer(db, chain.network.mode, funding.reference);
      if (transfer?.status === 'confirmed') break;
      if (transfer?.status === 'failed') {
        await storeRefusal(db, id, address, `Its funding ${funding.reference} failed.`);
        await storeOutcome(db, id, address, 'failed');
        break;
      }
      await sleep(POLL_MS, signal);
    }
  }
  const after = await requireSweep(db, id);
  const isNothingLeft = after.transactions.every(({ isMoved }) => isMoved === false);
  return isNothingLeft ? 'The funding of each address failed.' : null;
}

/** Waits while the chain or its payouts are paused. One that the nodes refuse stops no other. */
export async function sendSweep(parts: SweepParts, id: string, signal: AbortSignal): Promise<void> {
  const { db, chain } = parts;
  const { transactions } = await requireSweep(db, id);
  for (const one of transactions.filter(({ isMoved }) => isMoved === null)) {
    while (await isPaused(db, chain.network.chainId)) await sleep(POLL_MS, signal);
    // An operator may cancel it between two transactions.
    if ((await requireSweep(db, id)).isOver) return;
    await broadcastOne(parts, id, one);
  }
}

/** The reason of a refusal is kept for `wallet status`, and the transaction is tried again later. */
async function broadcastOne(
  { db, chain }: SweepParts,
  id: string,
  { address, raw }: SweepTransaction,
): Promise<void> {
  await storeRefusal(db, id, address, await broadcastSweep(chain, raw));
}

/** @returns how many addresses are swept, once every nonce is final or an operator cancelled it */
export async function awaitSweep(
  parts: SweepParts,
  id: string,
  signal: AbortSignal,
): Promise<number> {
  const { db, chain } = parts;
  let sentAt = performance.now();
  for (;;) {
    const { transactions } = await requireSweep(db, id);
    for (const one of transactions.filter(({ isMoved }) => isMoved === null)) {
      const outcome = await findOutcome(chain, one);
      if (outcome !== null) await storeOutcome(db, id, one.address, outcome);
    }
    const after = await requireSweep(db, id);
    const open = after.transactions.filter(({ isMoved }) => isMoved === null);
    if (open.length === 0 || after.isOver) {
      return after.transactions.filter(({ isMoved }) => isMoved === true).length;
    }
    const isDue = performance.now() - sentAt >= RESEND_MS;
    if (isDue && !(await isPaused(db, chain.network.chainId))) {
      for (const one of open) await broadcastOne(parts, id, one);
      sentAt = performance.now();
    }
    await sleep(POLL_MS, signal);
  }
}

async function requireSweep(db: Database, id: string): Promise<StoredSweep> {
  const sweep = await findSweep(db, id);
  if (sweep === null) throw new Error(`there is no sweep ${id}`);
  return sweep;
}

/** @throws when the activity is cancelled: another process repeats the step */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal });
}
