/**
 * Gives queued transfers their slots: what the float covers, what the limits allow, what the node
 * estimates to succeed, by the hot wallet that has the fewest transactions in flight. A transfer that no
 * hot wallet can send now is passed over and stays queued with its reason; one that its recipient
 * refuses fails without using a nonce.
 */
import { getAddress } from 'viem';
import { isPaused } from '../chain/pause';
import type { Tx } from '../db/database';
import { choosePayments, failUnsent, type Paid, type Queued } from './choose-payments';
import { findDenied } from './denylist';
import { isFenced } from './fence';
import { adoptMarked } from './found';
import {
  type Capacity,
  capacityOf,
  type HotWallet,
  limitDetail,
  readHotWallets,
} from './hot-wallets';
import { exceededLimit, findRooms, type Room, roomOf, takeFrom } from './limits';
import type { QueueParts } from './parts';
import {
  advanceNonce,
  insertSlots,
  isStopped,
  lockAllSigners,
  readSigner,
  type SignerKey,
} from './slots';
import { keepWaiting, reportWaiting, type Waiting } from './waiting';

/** What gives the transfers of a chain to its hot wallets. */
export interface GivingParts extends Omit<QueueParts, 'key'> {
  /** The hot wallets that send, in lower case. */
  signers: readonly string[];
  /** The hot wallets whose nonces were compared with every node since this process has the chain. */
  compared: ReadonlySet<string>;
}

/** A round gives slots to this many transfers at most. */
const BATCH = 100;

/** @returns how many transfers got a slot, or were passed over after an estimate */
export async function fillSlots(parts: GivingParts): Promise<number> {
  const { db, chain, alarms } = parts;
  const { chainId } = chain.network;
  if (!(await isCompared(parts)) || (await isStopped(db, chainId))) return 0;
  if (!(await isFenced(db, chainId))) return 0;
  const done = await giveSlots(parts);
  await reportWaiting(db, chain, alarms);
  return done;
}

/**
 * After a restore, a transfer may have been paid by another hot wallet than the one that would get it
 * now, also by one that was replaced since.
 */
export async function isCompared({
  db,
  chain,
  signers,
  compared,
}: Pick<GivingParts, 'db' | 'chain' | 'signers' | 'compared'>): Promise<boolean> {
  const known = await db.query<{ address: string }>(
    'SELECT address FROM wallet.signer WHERE chain_id = $1',
    [chain.network.chainId],
  );
  return [...signers, ...known.map(({ address }) => address)].every((one) => compared.has(one));
}

async function giveSlots(parts: GivingParts): Promise<number> {
  const { db, chain, signers } = parts;
  const rooms = await findRooms(db, chain, signers);
  const assets = [...(rooms.values().next().value?.keys() ?? [])];
  if (assets.length === 0) return 0;
  const wallets = await readHotWallets(parts, rooms);
  if (wallets.length === 0) return 0;
  const capacitiesOf = (of: readonly HotWallet[]): Map<string, Capacity> =>
    new Map(assets.map((asset) => [asset, capacityOf(chain, of, asset)]));
  await passOver(parts, capacitiesOf(wallets));
  // What only a full hot wallet can send must not hold up what another one can.
  const notFull = wallets.filter(({ slotsLeft }) => slotsLeft > 0);
  if (notFull.length === 0) return 0;
  const slotsLeft = notFull.reduce((sum, wallet) => sum + wallet.slotsLeft, 0);
  const queued = await findQueued(parts, capacitiesOf(notFull), Math.min(BATCH, slotsLeft));
  const allowed = await withoutDenied(parts, queued);
  const { payments, ended } = await choosePayments(parts, wallets, allowed);
  let made = 0;
  for (const [wallet, own] of payments) made += await storeSlots(parts, wallet, own);
  return made + ended;
}

/**
 * Reads the transfers of each asset that are due first, because an asset without float must not make
 * the others wait, and only those that a hot wallet has room for by themselves.
 */
async function findQueued(
  { db, chain }: GivingParts,
  capacities: ReadonlyMap<string, Capacity>,
  limit: number,
): Promise<Queued[]> {
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
      chain.network.chainId,
      [...capacities.keys()],
      [...capacities.values()].map(({ units }) => units),
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

/** Marks the transfers that do not fit by themselves, without reading them. */
async function passOver(
  { db, chain }: GivingParts,
  capacities: ReadonlyMap<string, Capacity>,
): Promise<void> {
  const assets = [...capacities.keys()];
  const all = [...capacities.values()];
  await db.query(
    `UPDATE wallet.transfer
     SET waiting_for = due.reason, waiting_detail = due.detail,
       waiting_since = coalesce(transfer.waiting_since, clock_timestamp())
     FROM (
       SELECT id, CASE WHEN units <= least(hour, day) THEN short ELSE 'limit' END AS reason,
         CASE WHEN units > hour THEN hour_detail WHEN units > day THEN day_detail
           ELSE short_detail END AS detail
       FROM unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::text[], $7::text[],
           $8::text[], $9::text[])
         AS room(asset, hour, day, float, hour_detail, day_detail, short, short_detail)
       JOIN wallet.transfer USING (asset)
       WHERE chain_id = $1 AND status = 'queued' AND units > least(hour, day, float)
         AND waiting_for IS DISTINCT FROM
           CASE WHEN units <= least(hour, day) THEN short ELSE 'limit' END
       ORDER BY due_at LIMIT ${BATCH}) AS due
     WHERE transfer.id = due.id AND status = 'queued'`,
    [
      chain.network.chainId,
      assets,
      all.map(({ room }) => room.hour),
      all.map(({ room }) => room.day),
      all.map(({ largest }) => largest),
      assets.map((asset) => limitDetail(asset, 'hour')),
      assets.map((asset) => limitDetail(asset, 'day')),
      all.map(({ short }) => short.reason),
      all.map(({ short }) => short.detail),
    ],
  );
}

/** Fails transfers to addresses that were put on the denylist after the order was accepted. */
async function withoutDenied({ db }: GivingParts, queued: readonly Queued[]): Promise<Queued[]> {
  const denied = await findDenied(
    db,
    queued.map(({ recipient }) => recipient),
  );
  for (const { transferId, recipient } of queued) {
    if (denied.has(recipient)) await failUnsent(db, transferId);
  }
  return queued.filter(({ recipient }) => !denied.has(recipient));
}

async function storeSlots(
  parts: GivingParts,
  { key, view }: HotWallet,
  payments: readonly Paid[],
): Promise<number> {
  const { db, chain } = parts;
  return db.transaction(async (tx) => {
    await lockAllSigners(tx, key.chainId);
    const signer = await readSigner(tx, key);
    if (signer.isPaused || (await isStopped(tx, key.chainId))) return 0;
    if ((await isPaused(tx, key.chainId)) || !(await isFenced(tx, key.chainId))) return 0;
    // Another database may have answered since the nonces were explained.
    if (signer.nextNonce < view.pendingNonces) return 0;
    await adoptMarked(tx, chain);
    // The limits are compared again, now that nobody else can give slots.
    const allowed = await withinLimits(parts, tx, key, payments);
    const taken = await tx.query<{ id: string }>(
      `UPDATE wallet.transfer
       SET status = 'sending', waiting_for = NULL, waiting_since = NULL, waiting_detail = NULL
       WHERE id = ANY($1::text[]) AND status = 'queued' RETURNING id`,
      [allowed.map(({ transferId }) => transferId)],
    );
    const ids = new Set(taken.map(({ id }) => id));
    const chosen = payments.filter(({ transferId }) => ids.has(transferId));
    if (chosen.length > 0) {
      const nonces = chosen.map((_, index) => signer.nextNonce + BigInt(index));
      await insertSlots(tx, key, nonces, chosen);
      await advanceNonce(tx, key, signer.nextNonce + BigInt(chosen.length));
    }
    return chosen.length;
  });
}

/** Takes the transfers that the limits of the hour and of the day allow, the one due first first. */
async function withinLimits(
  { chain, signers }: GivingParts,
  tx: Tx,
  { signer }: SignerKey,
  payments: readonly Paid[],
): Promise<Paid[]> {
  const rooms = (await findRooms(tx, chain, signers)).get(signer) ?? new Map<string, Room>();
  const { pollMs } = chain.network;
  const allowed: Paid[] = [];
  for (const one of payments) {
    const period = exceededLimit(roomOf(rooms, one.asset), one.units);
    if (period === null) {
      takeFrom(rooms, one);
      allowed.push(one);
      continue;
    }
    const { transferId } = one;
    const waiting: Waiting = {
      transferId,
      reason: 'limit',
      detail: limitDetail(one.asset, period),
    };
    // It keeps its place: the limits are compared again in each round.
    await keepWaiting(tx, waiting, { isRetried: false, pollMs });
  }
  return allowed;
}
