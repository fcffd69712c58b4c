/**
 * Gives queued transfers their slots: what the float covers, what the limits allow, what the node
 * estimates to succeed. A transfer that has to wait is passed over and stays queued with its reason;
 * one that its recipient refuses fails without using a nonce.
 */
import { getAddress } from 'viem';
import type { Alarms } from '../alarms';
import type { Chain } from '../chain/chain';
import { isPaused } from '../chain/pause';
import type { Database, Db, Tx } from '../db/database';
import type { PayoutRules } from '../networks';
import { amountOf, NATIVE_DECIMALS } from '../units';
import { findDenied } from './denylist';
import { estimateEach } from './estimate';
import { type Fees, firstFees } from './fees';
import { markGas } from './fingerprint';
import { findRooms, type Room, roomOf, takeFrom } from './limits';
import { advanceNonce, insertSlots, lockSigner, type Payment, type SignerKey } from './slots';
import { transactionOf, type Unpaid, withGasMargin } from './transaction';
import { finishTransfer, sendableDecimals } from './transfers';
import type { ChainView } from './view';
import { keepWaiting, reportWaiting, type WaitingReason } from './waiting';

export interface QueueParts {
  db: Database;
  chain: Chain;
  rules: PayoutRules;
  key: SignerKey;
  alarms: Alarms;
}

/** Of one transaction; a request to the node holds fewer. */
const BATCH = 100;

/** @returns how many transfers got a slot, or were passed over after an estimate */
export async function fillSlots(parts: QueueParts, view: ChainView): Promise<number> {
  const { db, rules, key, chain, alarms } = parts;
  const [inFlight] = await db.query<{ count: string }>(
    `SELECT count(*) AS count FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3`,
    [key.chainId, key.signer, view.usedNonces.toString()],
  );
  const room = Math.min(BATCH, rules.inFlightMax - Number(inFlight?.count ?? 0));
  if (room <= 0) return 0;
  const done = await giveSlots(parts, view, room);
  await reportWaiting(db, chain, alarms);
  return done;
}

async function giveSlots(parts: QueueParts, view: ChainView, room: number): Promise<number> {
  const { db, chain, key } = parts;
  const fees = firstFees(view, parts.rules.maxFeePerGasWei);
  const rooms = await findRooms(db, chain, key.chainId);
  if (rooms.size === 0) return 0;
  const free = await findFree(parts, view);
  const largest = largestOf(chain, fees, free);
  await passOver(parts, view, rooms, largest);
  const queued = await findQueued(parts, rooms, largest, room);
  const allowed = await withoutDenied(parts, queued);
  const limited = await withinLimits(parts, db, rooms, allowed);
  const covered = await withinFloat(parts, view, fees, free, limited);
  const tried = covered.slice(0, room);
  if (tried.length === 0) return 0;
  const payments = await estimate(parts, tried);
  const made = payments.length === 0 ? 0 : await storeSlots(parts, view, payments, fees);
  return made + tried.length - payments.length;
}

interface Queued extends Unpaid {
  transferId: string;
  reference: string;
}

/**
 * Those due first of each asset, because an asset without float must not make the others wait, and
 * only those that the limits and the float leave room for by themselves.
 */
async function findQueued(
  { db, key }: QueueParts,
  rooms: ReadonlyMap<string, Room>,
  largest: Balances,
  limit: number,
): Promise<Queued[]> {
  const assets = [...rooms.keys()];
  const rows = await db.query<
    Record<'id' | 'reference' | 'asset' | 'units' | 'destination', string>
  >(
    `SELECT oldest.* FROM unnest($2::text[], $3::numeric[]) AS room(asset, units), LATERAL (
       SELECT id, client_reference AS reference, asset, units, destination, due_at
       FROM wallet.transfer
       WHERE chain_id = $1 AND status = 'queued' AND asset = room.asset
         AND transfer.units <= room.units AND due_at <= clock_timestamp()
       ORDER BY due_at, id LIMIT $4) AS oldest
     ORDER BY due_at, id`,
    [
      key.chainId,
      assets,
      assets.map((asset) => smallest(roomOf(rooms, asset), largest.get(asset) ?? 0n).toString()),
      limit,
    ],
  );
  return rows.map(({ id, reference, asset, units, destination }) => ({
    transferId: id,
    reference,
    asset,
    units: BigInt(units),
    recipient: getAddress(destination),
  }));
}

function smallest({ hour, day }: Room, free: bigint): bigint {
  const allowed = hour < day ? hour : day;
  return allowed < free ? allowed : free;
}

/** Marks those that do not fit by themselves, without reading them. */
async function passOver(
  { db, chain, key }: QueueParts,
  view: ChainView,
  rooms: ReadonlyMap<string, Room>,
  largest: Balances,
): Promise<void> {
  const assets = [...rooms.keys()];
  const native = chain.network.native.asset;
  const hasFees = (largest.get(native) ?? 0n) >= 0n;
  await db.query(
    `UPDATE wallet.transfer
     SET waiting_for = due.reason, waiting_detail = due.detail,
       waiting_since = coalesce(transfer.waiting_since, clock_timestamp())
     FROM (
       SELECT id, CASE WHEN units <= least(hour, day) THEN $7 ELSE 'limit' END AS reason,
         CASE WHEN units > hour THEN hour_detail WHEN units > day THEN day_detail
           ELSE short_detail END AS detail
       FROM unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::text[], $8::text[],
           $9::text[])
         AS room(asset, hour, day, float, hour_detail, day_detail, short_detail)
       JOIN wallet.transfer USING (asset)
       WHERE chain_id = $1 AND status = 'queued' AND units > least(hour, day, float)
         AND waiting_for IS DISTINCT FROM
           CASE WHEN units <= least(hour, day) THEN $7 ELSE 'limit' END
       ORDER BY due_at LIMIT ${String(BATCH)}) AS due
     WHERE transfer.id = due.id AND status = 'queued'`,
    [
      key.chainId,
      assets,
      assets.map((asset) => roomOf(rooms, asset).hour.toString()),
      assets.map((asset) => roomOf(rooms, asset).day.toString()),
      assets.map((asset) => (largest.get(asset) ?? 0n).toString()),
      assets.map((asset) => limitDetail(asset, 'hour')),
      hasFees ? 'float' : 'network fees',
      assets.map((asset) => limitDetail(asset, 'day')),
      assets.map((asset) => shortDetail(chain, view, hasFees ? asset : native)),
    ],
  );
}

function limitDetail(asset: string, period: 'hour' | 'day'): string {
  return `Payouts wait for the ${period} limit. If this volume is expected, raise limits.${asset}.${period}.`;
}

function shortDetail({ network }: Chain, view: ChainView, asset: string): string {
  const decimals = sendableDecimals(network, asset) ?? NATIVE_DECIMALS;
  const held = amountOf(view.balances.get(asset) ?? 0n, decimals);
  return `The hot wallet has ${held} ${asset}, which does not cover the queued payouts. Send ${asset} to it.`;
}

/** An address that was put on the denylist after the order was accepted. */
async function withoutDenied({ db }: QueueParts, queued: readonly Queued[]): Promise<Queued[]> {
  const denied = await findDenied(
    db,
    queued.map(({ recipient }) => recipient),
  );
  for (const { transferId, recipient } of queued) {
    if (denied.has(recipient)) await failUnsent(db, transferId);
  }
  return queued.filter(({ recipient }) => !denied.has(recipient));
}

async function failUnsent(db: Database, transferId: string): Promise<void> {
  await db.transaction((tx) =>
    finishTransfer(tx, {
      ...{ transferId, status: 'failed', failureCode: 'destination_unreachable', txHash: null },
    }),
  );
}

/** What the limits of the hour and of the day leave for each transfer, the one due first first. */
async function withinLimits<T extends Queued>(
  { chain }: QueueParts,
  db: Db | Tx,
  rooms: Map<string, Room>,
  queued: readonly T[],
): Promise<T[]> {
  const allowed: T[] = [];
  for (const one of queued) {
    const room = roomOf(rooms, one.asset);
    if (one.units > room.hour || one.units > room.day) {
      const detail = limitDetail(one.asset, one.units > room.hour ? 'hour' : 'day');
      await wait(db, chain, one, 'limit', detail);
      continue;
    }
    takeFrom(rooms, one);
    allowed.push(one);
  }
  return allowed;
}

/** It keeps its place: the limits and the float are compared again in each round. */
async function wait(
  db: Db,
  { network }: Chain,
  { transferId }: Queued,
  reason: WaitingReason,
  detail: string,
): Promise<void> {
  const { pollMs } = network;
  await keepWaiting(db, { transferId, reason, detail }, { isRetried: false, pollMs });
}

/** More than any transfer of a known token takes; the estimate decides later. */
const GAS_RESERVE = 150_000n;

/** asset → units of the hot wallet that no transaction outside of blocks will take */
type Balances = Map<string, bigint>;

/** The balance in the latest block, less what transactions outside of blocks will take of it. */
async function findFree({ db, chain, key }: QueueParts, view: ChainView): Promise<Balances> {
  const reserved = await db.query<{ asset: string; units: string; gas: string }>(
    `SELECT asset, sum(units) AS units, sum(gas * max_fee_per_gas) AS gas FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3 GROUP BY asset`,
    [key.chainId, key.signer, view.usedNonces.toString()],
  );
  const free = new Map(view.balances);
  for (const { asset, units, gas } of reserved) {
    take(free, asset, BigInt(units));
    take(free, chain.network.native.asset, BigInt(gas));
  }
  return free;
}

/** What one transfer of each asset may have at most; the coin also pays its network fee. */
function largestOf({ network }: Chain, { maxFeePerGas }: Fees, free: Balances): Balances {
  const largest = new Map(free);
  take(largest, network.native.asset, GAS_RESERVE * maxFeePerGas);
  return largest;
}

function take(free: Balances, asset: string, units: bigint): void {
  free.set(asset, (free.get(asset) ?? 0n) - units);
}

async function withinFloat(
  { db, chain }: QueueParts,
  view: ChainView,
  { maxFeePerGas }: Fees,
  free: Balances,
  queued: readonly Queued[],
): Promise<Queued[]> {
  const native = chain.network.native.asset;
  const covered: Queued[] = [];
  const gasCost = GAS_RESERVE * maxFeePerGas;
  for (const one of queued) {
    const coins = (free.get(native) ?? 0n) - gasCost;
    const balance = one.asset === native ? coins : (free.get(one.asset) ?? 0n);
    if (coins >= 0n && balance >= one.units) {
      take(free, one.asset, one.units);
      take(free, native, gasCost);
      covered.push(one);
      continue;
    }
    const short = coins < 0n ? native : one.asset;
    const reason = coins < 0n ? 'network fees' : 'float';
    await wait(db, chain, one, reason, shortDetail(chain, view, short));
  }
  return covered;
}

/** What its recipient refuses fails; what may be about something else waits and is tried again. */
async function estimate(
  parts: QueueParts,
  queued: readonly Queued[],
): Promise<(Queued & Payment)[]> {
  const { db, chain, key, rules } = parts;
  const { pollMs } = chain.network;
  const asked = { chain, signer: key.signer, gasMax: rules.gasMax };
  const estimates = await estimateEach(asked, queued);
  const payments: (Queued & Payment)[] = [];
  for (const [index, one] of queued.entries()) {
    const found = estimates[index];
    if (found === undefined) continue;
    if (found.kind === 'refused') await failUnsent(db, one.transferId);
    else if (found.kind === 'waits') {
      const waiting = { transferId: one.transferId, reason: found.for, detail: found.detail };
      await keepWaiting(db, waiting, { isRetried: true, pollMs });
    } else {
      const { data, valueWei } = transactionOf(chain, one);
      payments.push({
        ...one,
        data,
        valueWei,
        gas: markGas(withGasMargin(found.gas), one.reference),
      });
    }
  }
  return payments;
}

async function storeSlots(
  parts: QueueParts,
  view: ChainView,
  payments: readonly (Queued & Payment)[],
  fees: Fees,
): Promise<number> {
  const { db, chain, key } = parts;
  return db.transaction(async (tx) => {
    const signer = await lockSigner(tx, key);
    if (signer.stoppedReason !== null || (await isPaused(tx, key.chainId))) return 0;
    // Another database may have answered since the nonces were explained.
    if (signer.nextNonce < view.pendingNonces) return 0;
    // Again, now that nobody else can give slots.
    const rooms = await findRooms(tx, chain, key.chainId);
    const allowed = await withinLimits(parts, tx, rooms, payments);
    const taken = await tx.query<{ id: string }>(
      `UPDATE wallet.transfer
       SET status = 'sending', waiting_for = NULL, waiting_since = NULL, waiting_detail = NULL
       WHERE id = ANY($1::text[]) AND status = 'queued' RETURNING id`,
      [allowed.map(({ transferId }) => transferId)],
    );
    const ids = new Set(taken.map(({ id }) => id));
    const chosen = payments.filter(({ transferId }) => ids.has(transferId));
    if (chosen.length > 0) {
      await insertSlots(tx, key, signer.nextNonce, chosen, fees);
      await advanceNonce(tx, key, signer.nextNonce + BigInt(chosen.length));
    }
    return chosen.length;
  });
}
