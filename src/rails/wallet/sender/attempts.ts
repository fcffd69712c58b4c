/**
 * The attempts of slots in the database: signed bytes, with the fees that they offer. They are stored
 * before they are broadcast, so whatever dies in between, the next start finds what there is to send.
 */
import { type Hex, keccak256 } from 'viem';
import type { Database, Db } from '../db/database';
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
    const rows = await tx.query<{ nonce: string }>(
      `UPDATE wallet.slot SET is_signed = true
       FROM unnest($3::bigint[], $4::numeric[], $5::boolean[]) AS made(nonce, max_fee, is_empty)
       WHERE chain_id = $1 AND signer = $2 AND slot.nonce = made.nonce
         AND state = 'open' AND NOT is_signed AND max_fee_per_gas = made.max_fee
         AND (freed_at IS NOT NULL) = made.is_empty
       RETURNING slot.nonce`,
      [
        chainId,
        signer,
        signed.map(({ slot }) => slot.nonce.toString()),
        signed.map(({ slot }) => slot.maxFeePerGas.toString()),
        signed.map(({ slot }) => slot.isFreed),
      ],
    );
    const wanted = new Set(rows.map(({ nonce }) => nonce));
    const stored = signed.filter(({ slot }) => wanted.has(slot.nonce.toString()));
    await tx.query(
      `INSERT INTO wallet.attempt (chain_id, signer, hash, nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, is_empty)
       SELECT $1, $2, * FROM unnest($3::text[], $4::bigint[], $5::text[], $6::numeric[], $7::numeric[],
         $8::boolean[])`,
      [
        chainId,
        signer,
        stored.map(({ raw }) => keccak256(raw)),
        stored.map(({ slot }) => slot.nonce.toString()),
        stored.map(({ raw }) => raw),
        stored.map(({ slot }) => slot.maxFeePerGas.toString()),
        stored.map(({ slot }) => slot.maxPriorityFeePerGas.toString()),
        stored.map(({ slot }) => slot.isFreed),
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
      chainId,
      signer,
      nonce.toString(),
      before.maxFeePerGas.toString(),
      fees.maxFeePerGas.toString(),
      fees.maxPriorityFeePerGas.toString(),
      gas.toString(),
    ],
  );
}

interface AttemptRow {
  hash: Hex;
  transferId: string;
  nonce: string;
  raw: Hex;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  isEmpty: boolean;
  isFreed: boolean;
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
  const rows = await db.query<AttemptRow & Record<string, unknown>>(
    `SELECT ${ATTEMPT_COLUMNS}
     FROM wallet.slot JOIN wallet.attempt USING (chain_id, signer, nonce)
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3 AND nonce < $4
     ORDER BY nonce, attempt.max_fee_per_gas`,
    [chainId, signer, from.toString(), upTo.toString()],
  );
  return rows.map(readAttemptRow);
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
  const rows = await db.query<AttemptRow & Record<string, unknown>>(
    `SELECT ${ATTEMPT_COLUMNS}
     FROM wallet.slot, LATERAL (
       SELECT * FROM wallet.attempt AS own
       WHERE own.chain_id = slot.chain_id AND own.signer = slot.signer AND own.nonce = slot.nonce
       ORDER BY max_fee_per_gas DESC LIMIT 1) AS attempt
     WHERE slot.chain_id = $1 AND slot.signer = $2 AND slot.state = 'open' AND slot.nonce >= $3
       AND ${time} <= clock_timestamp() - make_interval(secs => $4)
     ORDER BY slot.nonce`,
    [chainId, signer, from.toString(), ageMs / 1_000],
  );
  return rows.map(readAttemptRow);
}

function readAttemptRow(row: AttemptRow): Attempt {
  return {
    ...row,
    nonce: BigInt(row.nonce),
    maxFeePerGas: BigInt(row.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(row.maxPriorityFeePerGas),
  };
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
