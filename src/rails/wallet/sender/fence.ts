/**
 * Keeps two databases from paying with one key. A database with another identity than before, such as a standby that
 * takes over or a copy, first sends a fence with each hot wallet: an empty transaction with its identity. The chain
 * takes one transaction for each nonce, so either the fence or what the other database sends is mined, and the
 * loser sees a nonce that it does not know, and stops. No payout of the chain gets a nonce before the fence is final.
 */
import { getAddress, keccak256, stringToHex } from 'viem';
import { isPaused } from '../chain/pause';
import type { Db, Tx } from '../db/database';
import { compareNonces } from './compare';
import { estimateEmpty } from './estimate-empty';
import { firstFees } from './fees';
import type { QueueParts } from './parts';
import { isStopped, lockSigner, type SignerKey } from './slots';
import type { ChainView } from './view';

interface Fence {
  /** The identity that the database has now. */
  identity: string;
  /** Null: it was not sent. */
  nonce: string | null;
  /** The hot wallet's own transaction is in a final block, and for how long it is known. */
  isFinal: boolean;
  finalSeconds: number | null;
}

/** The other database has seen by then that its nonce was taken. */
const POLLS_AFTER_FINAL = 30;

/** SQL: the hot wallets whose fence is not final. */
const UNFENCED = `wallet.signer CROSS JOIN wallet.database_identity AS database
  WHERE signer.chain_id = $1 AND replaced_at IS NULL AND fenced_identity IS DISTINCT FROM identity`;

export async function isFenced(db: Db, chainId: number): Promise<boolean> {
  return (await db.query(`SELECT 1 FROM ${UNFENCED}`, [chainId])).length === 0;
}

/** One step of the fence, if the hot wallet needs one. Its nonces have been compared with the chain. */
export async function keepFence(parts: QueueParts, view: ChainView): Promise<void> {
  const { db, chain, key, alarms } = parts;
  const fence = await findFence(db, key);
  if (fence === null) return alarms.clear('database_changed', key.signer);
  const detail = `The database was restored, copied, or taken over by a standby. Payouts wait until a transaction of ${key.signer} that keeps another database from paying is in a final block.`;
  await alarms.raise('database_changed', key.signer, detail);
  if ((await isStopped(db, key.chainId)) || (await isPaused(db, key.chainId))) return;
  if (fence.nonce === null) return sendFence(parts, view, fence);
  if (!fence.isFinal) return;
  if (fence.finalSeconds === null) {
    await updateFence(db, key, fence, 'fence_final_at = clock_timestamp()');
    return;
  }
  if (fence.finalSeconds * 1_000 < POLLS_AFTER_FINAL * chain.network.pollMs) return;
  // What another database has sent before it saw the fence is in blocks or pools by now.
  await compareNonces(parts, view, { everyNode: true });
  if (await isStopped(db, key.chainId)) return;
  await updateFence(db, key, fence, 'fenced_identity = identity, fence_nonce = NULL');
}

/** Nothing happens when the database has changed again, or the hot wallet was stopped. */
async function updateFence(
  db: Db,
  { chainId, signer }: SignerKey,
  { identity, nonce }: Fence,
  set: string,
): Promise<void> {
  await db.query(
    `UPDATE wallet.signer SET ${set} FROM wallet.database_identity AS database
     WHERE chain_id = $1 AND address = $2 AND fence_nonce = $3 AND identity = $4
       AND stopped_reason IS NULL`,
    [chainId, signer, nonce, identity],
  );
}

async function findFence(db: Db, { chainId, signer }: SignerKey): Promise<Fence | null> {
  const [fence] = await db.query<Fence>(
    `SELECT identity, slot.nonce, coalesce(slot.settled_block IS NOT NULL, false) AS "isFinal",
       extract(epoch FROM clock_timestamp() - fence_final_at)::float8 AS "finalSeconds"
     FROM (SELECT identity, signer.* FROM ${UNFENCED} AND address = $2) AS own
     LEFT JOIN wallet.slot ON slot.chain_id = own.chain_id AND slot.signer = own.address
       AND slot.nonce = fence_nonce AND (state = 'open' OR settled_block IS NOT NULL)`,
    [chainId, signer],
  );
  return fence ?? null;
}

async function sendFence(
  { db, chain, key, rules }: QueueParts,
  view: ChainView,
  { identity }: Fence,
): Promise<void> {
  const data = keccak256(stringToHex(identity));
  const gas = await estimateEmpty(chain, getAddress(key.signer), data);
  const fees = firstFees(view, rules.maxFeePerGasWei);
  await db.transaction(async (tx: Tx) => {
    const { nextNonce, stoppedReason } = await lockSigner(tx, key);
    if (stoppedReason !== null || nextNonce < view.pendingNonces) return;
    await tx.query(
      `WITH fenced AS (
         UPDATE wallet.signer
         SET fence_nonce = next_nonce, next_nonce = next_nonce + 1, fence_final_at = NULL
         WHERE chain_id = $1 AND address = $2 RETURNING fence_nonce)
       INSERT INTO wallet.slot (chain_id, signer, nonce, asset, units, recipient, data, value_wei, gas,
         max_fee_per_gas, max_priority_fee_per_gas, freed_at)
       SELECT $1, $2, fence_nonce, '', 0, $2, $3, 0, $4, $5, $6, clock_timestamp() FROM fenced`,
      [
        ...[key.chainId, key.signer, data, gas.toString()],
        ...[fees.maxFeePerGas.toString(), fees.maxPriorityFeePerGas.toString()],
      ],
    );
  });
}
