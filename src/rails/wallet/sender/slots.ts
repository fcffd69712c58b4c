/**
 * Signers and slots in the database. A slot is one nonce of a signer and keeps its transfer for ever.
 * The nonce is given in the transaction that locks the signer. ./attempts stores the signed bytes.
 */
import type { Address, Hex } from 'viem';
import type { Db, Tx } from '../db/database';
import { columnsOf, readRow, type Row } from '../db/rows';
import type { Fees } from './fees';

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

/** Its transferId is '' where it is of no transfer: the empty transaction of a restore, or a fence. */
export interface Slot extends Payment, Fees {
  nonce: bigint;
  /** An operator wants an empty transaction with this nonce. */
  isFreed: boolean;
}

export interface SignerState {
  nextNonce: bigint;
  stoppedReason: string | null;
  /** The stop ends when each nonce below it is final and explained; null: when an operator restores. */
  explainTo: bigint | null;
  /** An operator has begun a restore: empty transactions are sent. */
  isRestoring: boolean;
  /** An operator paused it, so it gets no new slots. */
  isPaused: boolean;
}

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
     INSERT INTO wallet.signer (chain_id, address, next_nonce, fenced_identity)
     VALUES ($1, $2, $3, (SELECT identity FROM wallet.database_identity))
     ON CONFLICT (chain_id, address) DO NOTHING`,
    [key.chainId, key.signer, start, signers],
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

/** What one hot wallet has sent may have paid any payout, so a stop is of all hot wallets of the chain. */
export async function isStopped(db: Db, chainId: number): Promise<boolean> {
  const stopped = await db.query(
    'SELECT 1 FROM wallet.signer WHERE chain_id = $1 AND stopped_reason IS NOT NULL',
    [chainId],
  );
  return stopped.length > 0;
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
  const [row] = await db.query<Row<SignerState>>(
    `SELECT next_nonce AS "nextNonce", stopped_reason AS "stoppedReason",
       explain_to AS "explainTo", is_restoring AS "isRestoring", paused_at IS NOT NULL AS "isPaused"
     FROM wallet.signer WHERE chain_id = $1 AND address = $2 ${lock}`,
    [chainId, signer],
  );
  if (row === undefined) throw new Error(`the signer ${signer} is not registered`);
  return readRow<SignerState>(row, 'nextNonce', 'explainTo');
}

/**
 * Stops the chain's payouts. A stop that an operator must end stays one.
 * @param explainTo null: only a restore ends it
 * @param openNonce only while its slot is open, because an operator may have dealt with it meanwhile
 * @returns whether the signer is stopped for this
 */
export async function stopSigner(
  tx: Tx,
  key: SignerKey,
  reason: string,
  { explainTo = null, openNonce = null }: { explainTo?: bigint | null; openNonce?: bigint | null },
): Promise<boolean> {
  // The lock is a statement of its own, because one that waits for it would see the slots as they were.
  await lockSigner(tx, key);
  const stopped = await tx.query(
    `UPDATE wallet.signer SET stopped_reason = $3, explain_to = $4, is_restoring = false
     WHERE chain_id = $1 AND address = $2 AND (stopped_reason IS NULL OR explain_to IS NOT NULL)
       AND ($5::bigint IS NULL OR NOT is_restoring AND EXISTS (
         SELECT 1 FROM wallet.slot WHERE slot.chain_id = signer.chain_id
           AND slot.signer = signer.address AND nonce = $5 AND state = 'open'))
     RETURNING address`,
    [key.chainId, key.signer, reason, explainTo, openNonce],
  );
  return stopped.length > 0;
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
      ...[chainId, signer, nonces],
      ...columnsOf(payments, 'transferId', 'asset', 'units', 'recipient', 'data', 'valueWei'),
      ...columnsOf(payments, 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'),
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
    [chainId, signer, nextNonce],
  );
}

const SLOT_COLUMNS = `nonce, coalesce(transfer_id, '') AS "transferId", asset, units, recipient, data,
  value_wei AS "valueWei", gas, max_fee_per_gas AS "maxFeePerGas",
  max_priority_fee_per_gas AS "maxPriorityFeePerGas", freed_at IS NOT NULL AS "isFreed"`;

interface SlotQuery {
  from?: bigint;
  /** Slots with a lower nonce only. */
  upTo?: bigint | null;
  signed?: boolean | null;
  limit?: number;
}

export async function findOpenSlots(
  db: Db,
  { chainId, signer }: SignerKey,
  { from = 0n, upTo = null, signed = null, limit = 1_000 }: SlotQuery,
): Promise<Slot[]> {
  const rows = await db.query<Row<Slot>>(
    `SELECT ${SLOT_COLUMNS} FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3
       AND ($4::bigint IS NULL OR nonce < $4) AND ($5::boolean IS NULL OR is_signed = $5)
     ORDER BY nonce LIMIT $6`,
    [chainId, signer, from, upTo, signed, limit],
  );
  return rows.map((row) =>
    readRow<Slot>(row, 'nonce', 'units', 'valueWei', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'),
  );
}
