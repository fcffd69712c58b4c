/**
 * Signers and slots in the database. A slot is one nonce of a signer and keeps its transfer for ever.
 * The nonce is given in the transaction that locks the signer. ./attempts stores the signed bytes.
 */
import type { Address, Hex } from 'viem';
import type { Db, Tx } from '../db/database';
import type { Fees } from './fees';
import { MARK_MASK } from './fingerprint';

/** The account of one chain that a sender signs for, its address in lower case. */
export interface SignerKey {
  chainId: number;
  signer: string;
}

export interface Payment {
  transferId: string;
  asset: string;
  units: bigint;
  /** Who gets the asset; with a token, not the transaction's `to`. */
  recipient: Address;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
}

export interface Slot extends Payment, Fees {
  nonce: bigint;
  /** An operator wants an empty transaction with this nonce. */
  isFreed: boolean;
}

export interface SignerState {
  nextNonce: bigint;
  stoppedReason: string | null;
  stoppedFor: StopCause | null;
  /** An operator paused it, so it gets no new slots. */
  isPaused: boolean;
}

/** A stop for found transactions ends when each of them is explained; the other one needs an operator. */
export type StopCause = 'used_nonce' | 'found_transactions';

/**
 * The signer is one of those that send on the chain now. Earlier ones that are not among them have
 * been replaced.
 * @param signers all that send on the chain, this one included
 * @param findStart where a new signer begins
 */
export async function registerSigner(
  db: Db,
  key: SignerKey,
  signers: readonly string[],
  findStart: () => Promise<bigint>,
): Promise<void> {
  const known = await db.query('SELECT 1 FROM wallet.signer WHERE chain_id = $1 AND address = $2', [
    key.chainId,
    key.signer,
  ]);
  const start = known.length > 0 ? 0n : await findStart();
  await db.query(
    `WITH changed AS (
       UPDATE wallet.signer
       SET replaced_at = CASE WHEN address = ANY($4::text[]) THEN NULL ELSE clock_timestamp() END
       WHERE chain_id = $1 AND (address = ANY($4::text[])) = (replaced_at IS NOT NULL)),
     -- It sees the signers of the statements before this one.
     registered AS (
       UPDATE wallet.followed_chain SET is_new = false
       WHERE chain_id = $1 AND is_new AND NOT EXISTS (
         SELECT FROM unnest($4::text[]) AS sending (address)
         WHERE NOT EXISTS (SELECT FROM wallet.signer
           WHERE signer.chain_id = $1 AND signer.address = sending.address)))
     INSERT INTO wallet.signer (chain_id, address, next_nonce) VALUES ($1, $2, $3)
     ON CONFLICT (chain_id, address) DO NOTHING`,
    [key.chainId, key.signer, start.toString(), signers],
  );
}

/**
 * Locks every signer of the chain, replaced ones included, in one order. Slots are given only so,
 * because what one signer has spent or hides decides about the others too.
 */
export async function lockAllSigners(tx: Tx, chainId: number): Promise<void> {
  await tx.query('SELECT 1 FROM wallet.signer WHERE chain_id = $1 ORDER BY address FOR UPDATE', [
    chainId,
  ]);
}

/** Whether a signer of the chain has used a nonce for a transaction that no node shows. */
export async function hasUnseenTransactions(db: Db, chainId: number): Promise<boolean> {
  const hidden = await db.query(
    `SELECT 1 FROM wallet.signer
     WHERE chain_id = $1 AND (has_unseen_nonces OR stopped_for = 'used_nonce')`,
    [chainId],
  );
  return hidden.length > 0;
}

export async function readSigner(db: Db, key: SignerKey): Promise<SignerState> {
  return readSignerWith(db, key, '');
}

export async function lockSigner(tx: Tx, key: SignerKey): Promise<SignerState> {
  return readSignerWith(tx, key, 'FOR UPDATE');
}

async function readSignerWith(
  db: Db,
  { chainId, signer }: SignerKey,
  lock: '' | 'FOR UPDATE',
): Promise<SignerState> {
  const [row] = await db.query<Omit<SignerState, 'nextNonce'> & { nextNonce: string }>(
    `SELECT next_nonce AS "nextNonce", stopped_reason AS "stoppedReason",
       stopped_for AS "stoppedFor", paused_at IS NOT NULL AS "isPaused"
     FROM wallet.signer WHERE chain_id = $1 AND address = $2 ${lock}`,
    [chainId, signer],
  );
  if (row === undefined) throw new Error(`the signer ${signer} is not registered`);
  return { ...row, nextNonce: BigInt(row.nextNonce) };
}

/**
 * Stops the signer because somebody else used the nonce of an open slot. An operator may have resumed
 * the signer in between, so the slot must still be open.
 * @returns whether the signer is stopped
 */
export async function stopSigner(
  tx: Tx,
  key: SignerKey,
  reason: string,
  { openNonce }: { openNonce: bigint },
): Promise<boolean> {
  // The lock is a statement of its own, because one that waits for it would see the slots as they were.
  await lockSigner(tx, key);
  const stopped = await tx.query(
    `UPDATE wallet.signer
     SET stopped_for = 'used_nonce',
       stopped_reason = CASE WHEN stopped_for = 'used_nonce' THEN stopped_reason ELSE $3 END
     WHERE chain_id = $1 AND address = $2 AND EXISTS (
       SELECT 1 FROM wallet.slot WHERE slot.chain_id = signer.chain_id
         AND slot.signer = signer.address AND nonce = $4 AND state = 'open')
     RETURNING address`,
    [key.chainId, key.signer, reason, openNonce.toString()],
  );
  return stopped.length > 0;
}

/**
 * Nonces below the next one that have neither a slot nor a transaction at any node: what waits in a pool
 * behind them is mined only when they are used.
 * @param from what blocks have used
 */
export async function findMissingNonces(
  tx: Tx,
  { chainId, signer }: SignerKey,
  { from, upTo, limit }: { from: bigint; upTo: bigint; limit: number },
): Promise<bigint[]> {
  const rows = await tx.query<{ nonce: string }>(
    `SELECT nonce FROM generate_series($3::bigint, $4::bigint - 1) AS nonce
     WHERE NOT EXISTS (SELECT FROM wallet.slot
         WHERE chain_id = $1 AND signer = $2 AND slot.nonce = nonce.nonce)
       AND NOT EXISTS (SELECT FROM wallet.found_transaction AS found
         WHERE chain_id = $1 AND signer = $2 AND found.nonce = nonce.nonce)
     ORDER BY nonce LIMIT $5`,
    [chainId, signer, from.toString(), upTo.toString(), limit],
  );
  return rows.map(({ nonce }) => BigInt(nonce));
}

/** Gives each payment its nonce. The signer is locked. */
export async function insertSlots(
  tx: Tx,
  { chainId, signer }: SignerKey,
  nonces: readonly bigint[],
  payments: readonly (Payment & Fees)[],
): Promise<void> {
  await tx.query(
    `INSERT INTO wallet.slot (chain_id, signer, nonce, transfer_id, asset, units, recipient, data,
       value_wei, gas, max_fee_per_gas, max_priority_fee_per_gas)
     SELECT $1, $2, nonce, transfer_id, asset, units, recipient, data, value_wei, gas, max_fee, tip
     FROM unnest($3::bigint[], $4::text[], $5::text[], $6::numeric[], $7::text[], $8::text[], $9::numeric[],
         $10::bigint[], $11::numeric[], $12::numeric[])
       AS payment(nonce, transfer_id, asset, units, recipient, data, value_wei, gas, max_fee, tip)`,
    [
      chainId,
      signer,
      nonces.map((nonce) => nonce.toString()),
      payments.map(({ transferId }) => transferId),
      payments.map(({ asset }) => asset),
      payments.map(({ units }) => units.toString()),
      payments.map(({ recipient }) => recipient),
      payments.map(({ data }) => data),
      payments.map(({ valueWei }) => valueWei.toString()),
      payments.map(({ gas }) => gas.toString()),
      payments.map(({ maxFeePerGas }) => maxFeePerGas.toString()),
      payments.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas.toString()),
    ],
  );
}

/** Never goes back, because a nonce is given once. The signer is locked. */
export async function advanceNonce(
  tx: Tx,
  { chainId, signer }: SignerKey,
  nextNonce: bigint,
): Promise<void> {
  await tx.query(
    `UPDATE wallet.signer SET next_nonce = greatest(next_nonce, $3)
     WHERE chain_id = $1 AND address = $2`,
    [chainId, signer, nextNonce.toString()],
  );
}

interface SlotRow {
  nonce: string;
  transferId: string;
  asset: string;
  units: string;
  recipient: Address;
  data: Hex;
  valueWei: string;
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  isFreed: boolean;
}

const SLOT_COLUMNS = `nonce, transfer_id AS "transferId", asset, units, recipient, data,
  value_wei AS "valueWei", gas, max_fee_per_gas AS "maxFeePerGas",
  max_priority_fee_per_gas AS "maxPriorityFeePerGas", freed_at IS NOT NULL AS "isFreed"`;

export function readSlotRow(row: SlotRow): Slot {
  return {
    ...row,
    nonce: BigInt(row.nonce),
    units: BigInt(row.units),
    valueWei: BigInt(row.valueWei),
    gas: BigInt(row.gas),
    maxFeePerGas: BigInt(row.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(row.maxPriorityFeePerGas),
  };
}

/**
 * SQL about a slot: another transaction than its own, which is unknown and has the mark of the slot's
 * transfer, may have paid it. Two databases of different times gave it two nonces: nothing more of it is sent.
 */
export const IS_PAID_BY_ANOTHER = `(slot.freed_at IS NULL AND EXISTS (
  SELECT 1 FROM wallet.found_transaction AS found
  WHERE found.chain_id = slot.chain_id AND found.state = 'open'
    AND (found.signer, found.nonce) <> (slot.signer, slot.nonce)
    AND found.asset = slot.asset AND found.units = slot.units
    AND lower(found.recipient) = lower(slot.recipient)
    AND (found.gas & ${MARK_MASK.toString()}) = (slot.gas & ${MARK_MASK.toString()})))`;

/**
 * Frees the nonces of such slots of other signers. When that is final, their transfers are queued, and
 * adopted by the transaction that has paid them.
 */
export async function freePaidByAnother(tx: Tx, { chainId }: SignerKey): Promise<void> {
  await tx.query(
    `UPDATE wallet.slot SET freed_at = clock_timestamp()
     WHERE chain_id = $1 AND state = 'open' AND ${IS_PAID_BY_ANOTHER}`,
    [chainId],
  );
}

export async function hasOpenSlot(
  db: Db,
  { chainId, signer }: SignerKey,
  nonce: bigint,
): Promise<boolean> {
  const found = await db.query(
    `SELECT 1 FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open'`,
    [chainId, signer, nonce.toString()],
  );
  return found.length > 0;
}

/** @param upTo slots with a lower nonce only */
export async function findOpenSlots(
  db: Db,
  { chainId, signer }: SignerKey,
  {
    from = 0n,
    upTo = null,
    signed = null,
    limit = 1_000,
  }: {
    from?: bigint;
    upTo?: bigint | null;
    signed?: boolean | null;
    limit?: number;
  },
): Promise<Slot[]> {
  const rows = await db.query<SlotRow & Record<string, unknown>>(
    `SELECT ${SLOT_COLUMNS} FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3
       AND ($4::bigint IS NULL OR nonce < $4) AND ($5::boolean IS NULL OR is_signed = $5)
       AND NOT ($5::boolean IS NOT DISTINCT FROM false AND ${IS_PAID_BY_ANOTHER})
     ORDER BY nonce LIMIT $6`,
    [chainId, signer, from.toString(), upTo?.toString() ?? null, signed, limit],
  );
  return rows.map(readSlotRow);
}
