/**
 * The attempts of slots in the database: signed bytes, with the fees that they offer. They are stored
 * before they are broadcast, so whatever dies in between, the next start finds what there is to send.
 */
import { type Hex, keccak256 } from 'viem';
import type { Database, Db } from '../db/database';
import { columnsOf, readRow, type Row } from '../db/rows';
import type { Fees } from './fees';
import type { SignerKey, Slot } from './slots';

export interface Attempt extends Fees {
  hash: Hex;
  transferId: string;
  nonce: bigint;
  raw: Hex;
  /** It moves nothing, and is not the transfer's. */
  isEmpty: boolean;
  /** The slot wants an empty transaction. */
  isFreed: boolean;
}

/**
 * Stores the bytes of slots that still want exactly these fees. Two signers of one slot cannot both
 * succeed.
 */
export async function storeAttempts(
  db: Database,
  { chainId, signer }: SignerKey,
  signed: readonly { slot: Slot; raw: Hex }[],
): Promise<void> {
  await db.transaction(async (tx) => {
    const slots = signed.map(({ slot }) => slot);
    const rows = await tx.query<{ nonce: string }>(
      `UPDATE wallet.slot SET is_signed = true
       FROM unnest($3::bigint[], $4::numeric[], $5::boolean[]) AS made(nonce, max_fee, is_empty)
       WHERE chain_id = $1 AND signer = $2 AND slot.nonce = made.nonce
         AND state = 'open' AND NOT is_signed AND max_fee_per_gas = made.max_fee
         AND (freed_at IS NOT NULL) = made.is_empty
       RETURNING slot.nonce`,
      [chainId, signer, ...columnsOf(slots, 'nonce', 'maxFeePerGas', 'isFreed')],
    );
    const wanted = new Set(rows.map(({ nonce }) => BigInt(nonce)));
    const stored = signed
      .filter(({ slot }) => wanted.has(slot.nonce))
      .map(({ slot, raw }) => ({ ...slot, raw, hash: keccak256(raw) }));
    await tx.query(
      `INSERT INTO wallet.attempt (chain_id, signer, hash, nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, is_empty)
       SELECT $1, $2, * FROM unnest($3::text[], $4::bigint[], $5::text[], $6::numeric[], $7::numeric[],
         $8::boolean[])`,
      [
        ...[chainId, signer, ...columnsOf(stored, 'hash', 'nonce', 'raw')],
        ...columnsOf(stored, 'maxFeePerGas', 'maxPriorityFeePerGas', 'isFreed'),
      ],
    );
  });
}

/** The next signature of the attempt's slot takes the new fees, and this gas. */
export async function raiseSlotFees(
  db: Db,
  { chainId, signer }: SignerKey,
  { nonce, ...before }: Pick<Attempt, 'nonce' | 'maxFeePerGas'>,
  { gas, ...fees }: Fees & { gas: bigint },
): Promise<void> {
  await db.query(
    `UPDATE wallet.slot
     SET max_fee_per_gas = $5, max_priority_fee_per_gas = $6, gas = $7, is_signed = false
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open' AND is_signed
       AND max_fee_per_gas = $4`,
    [
      ...[chainId, signer, nonce, before.maxFeePerGas],
      ...[fees.maxFeePerGas, fees.maxPriorityFeePerGas, gas],
    ],
  );
}

const ATTEMPT_COLUMNS = `hash, coalesce(slot.transfer_id, '') AS "transferId", attempt.nonce, raw, attempt.max_fee_per_gas AS "maxFeePerGas",
  attempt.max_priority_fee_per_gas AS "maxPriorityFeePerGas", attempt.is_empty AS "isEmpty",
  slot.freed_at IS NOT NULL AS "isFreed"`;

/** Reads the attempts of open slots, by nonce and then by fees. */
export async function findAttempts(
  db: Db,
  { chainId, signer }: SignerKey,
  { from = 0n, upTo }: { from?: bigint; upTo: bigint },
): Promise<Attempt[]> {
  const rows = await db.query<Row<Attempt>>(
    `SELECT ${ATTEMPT_COLUMNS}
     FROM wallet.slot JOIN wallet.attempt USING (chain_id, signer, nonce)
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3 AND nonce < $4
     ORDER BY nonce, attempt.max_fee_per_gas`,
    [chainId, signer, from, upTo.toString()],
  );
  return readAttempts(rows);
}

/**
 * The attempt with the highest fees of each open slot, when it was made (or last had to wait) or broadcast longer ago
 * than this. A node that has an older attempt takes it as its replacement.
 */
export async function findNewestAttempts(
  db: Db,
  { chainId, signer }: SignerKey,
  from: bigint,
  since: 'created' | 'broadcast',
  ageMs: number,
): Promise<Attempt[]> {
  const time =
    since === 'created' ? 'attempt.created_at' : "coalesce(attempt.broadcast_at, '-infinity')";
  const rows = await db.query<Row<Attempt>>(
    `SELECT ${ATTEMPT_COLUMNS}
     FROM wallet.slot, LATERAL (
       SELECT * FROM wallet.attempt AS own
       WHERE own.chain_id = slot.chain_id AND own.signer = slot.signer AND own.nonce = slot.nonce
       ORDER BY max_fee_per_gas DESC LIMIT 1) AS attempt
     WHERE slot.chain_id = $1 AND slot.signer = $2 AND slot.state = 'open' AND slot.nonce >= $3
       AND ${time} <= clock_timestamp() - make_interval(secs => $4)
     ORDER BY slot.nonce`,
    [chainId, signer, from, ageMs / 1_000],
  );
  return readAttempts(rows);
}

function readAttempts(rows: readonly Row<Attempt>[]): Attempt[] {
  return rows.map((row) => readRow<Attempt>(row, 'nonce', 'maxFeePerGas', 'maxPriorityFeePerGas'));
}

/** No node took them yet, so the age after which fees are raised begins again. */
export async function markWaiting(db: Db, hashes: readonly Hex[]): Promise<void> {
  if (hashes.length === 0) return;
  await db.query(
    'UPDATE wallet.attempt SET created_at = clock_timestamp() WHERE hash = ANY($1::text[])',
    [hashes],
  );
}

export async function markBroadcast(db: Db, hashes: readonly Hex[]): Promise<void> {
  if (hashes.length === 0) return;
  await db.query(
    'UPDATE wallet.attempt SET broadcast_at = clock_timestamp() WHERE hash = ANY($1::text[])',
    [hashes],
  );
}
