/**
 * Ends a stop. When every nonce below a bound is final at every node, nothing that a lost database has signed can
 * be mined any more: one pass over the mined transactions adopts what has the mark of a payout. What is left
 * waits for the gateway, which may submit the payout again or know it by its hash, or for a person.
 */
import { type Address, getAddress } from 'viem';
import { endAlarm } from '../alarms';
import { type Chain } from '../chain/chain';
import { ignoreSilence } from '../chain/rpc';
import type { Db, Tx } from '../db/database';
import { adoptMarked, listOpenFound, storeFound } from './found';
import { findTransactions } from './lookup';
import { isNonceFinal } from './nonce-finality';
import type { QueueParts } from './parts';
import { lockAllSigners, readSigner, type SignerKey } from './slots';

/** The pass asks about as many nonces at once. */
const NONCES_MAX = 1_000;

export async function explain(parts: QueueParts): Promise<void> {
  const { db, chain, key } = parts;
  const address = getAddress(key.signer);
  const { explainTo } = await readSigner(db, key);
  if (explainTo === null || !(await isFinalEverywhere(chain, address, explainTo))) return;
  const nonces = await listUnexplained(db, key);
  const seen = await findTransactions(chain, address, nonces);
  await db.transaction(async (tx) => {
    await lockAllSigners(tx, key.chainId);
    // An operator may have begun a restore meanwhile.
    const now = await readSigner(tx, key);
    if (now.explainTo !== explainTo) return;
    const others = await withoutOwn(tx, seen);
    await storeFound(tx, chain, key, others, now);
    for (const { nonce } of others) await releaseSlot(tx, key, nonce);
    await adoptMarked(tx, chain);
    await endStop(tx, key);
  });
}

/** Every node must say so, because one that lags or lies would let a transaction be paid again. */
export async function isFinalEverywhere(
  chain: Chain,
  account: Address,
  below: bigint,
): Promise<boolean> {
  if (below === 0n) return true;
  for (const node of chain.nodes) {
    const isFinal = await isNonceFinal(node, account, below - 1n).catch(ignoreSilence);
    if (isFinal !== true) return false;
  }
  return true;
}

/** SQL: the nonces of a stopped signer that no transaction of the record explains. */
const UNEXPLAINED = `
  SELECT nonce, NULL AS transfer_id FROM wallet.signer, generate_series(next_nonce, explain_to - 1) AS nonce
  WHERE chain_id = $1 AND address = $2 AND NOT EXISTS (
    SELECT FROM wallet.slot WHERE slot.chain_id = $1 AND slot.signer = $2 AND slot.nonce = nonce.nonce)
    AND NOT EXISTS (SELECT FROM wallet.found_transaction AS found
      WHERE found.chain_id = $1 AND found.signer = $2 AND found.nonce = nonce.nonce)
  UNION ALL
  SELECT slot.nonce, transfer_id FROM wallet.signer JOIN wallet.slot
    ON slot.chain_id = signer.chain_id AND signer = address
  WHERE signer.chain_id = $1 AND address = $2 AND state = 'open' AND slot.nonce < explain_to`;

async function listUnexplained(db: Db, { chainId, signer }: SignerKey): Promise<bigint[]> {
  const rows = await db.query<{ nonce: string }>(
    `SELECT nonce FROM (${UNEXPLAINED}) AS unexplained ORDER BY nonce LIMIT ${NONCES_MAX}`,
    [chainId, signer],
  );
  return rows.map(({ nonce }) => BigInt(nonce));
}

/** Nonces that are used, and no transaction is shown; with the payout that had the nonce. */
export async function listUnseen(
  db: Db,
  { chainId, signer }: SignerKey,
): Promise<{ nonce: string; reference: string | null }[]> {
  return db.query<{ nonce: string; reference: string | null }>(
    `SELECT nonce::text, client_reference AS reference FROM (${UNEXPLAINED}) AS unexplained
     LEFT JOIN wallet.transfer ON transfer.id = transfer_id
     ORDER BY unexplained.nonce LIMIT ${NONCES_MAX}`,
    [chainId, signer],
  );
}

/** Its own transactions are settled by their receipts. */
async function withoutOwn<T extends { hash: string }>(tx: Tx, seen: readonly T[]): Promise<T[]> {
  const own = await tx.query<{ hash: string }>(
    'SELECT hash FROM wallet.attempt WHERE hash = ANY($1::text[])',
    [seen.map(({ hash }) => hash)],
  );
  return seen.filter((one) => !own.some(({ hash }) => hash === one.hash));
}

/**
 * Another transaction has used the nonce for good: those of the slot can never be mined, and its transfer, if it has
 * one, is queued again.
 */
export async function releaseSlot(
  tx: Tx,
  { chainId, signer }: SignerKey,
  nonce: bigint,
): Promise<void> {
  await tx.query(
    `WITH ended AS (
       UPDATE wallet.slot SET state = 'foreign'
       WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open' RETURNING transfer_id)
     UPDATE wallet.transfer SET status = 'queued'
     FROM ended WHERE transfer.id = ended.transfer_id AND transfer.status = 'sending'`,
    [chainId, signer, nonce],
  );
}

async function endStop(tx: Tx, key: SignerKey): Promise<void> {
  if ((await listOpenFound(tx, key)).length > 0 || (await listUnexplained(tx, key)).length > 0)
    return;
  await tx.query(
    `UPDATE wallet.signer SET next_nonce = greatest(next_nonce, explain_to), stopped_reason = NULL,
       explain_to = NULL, is_restoring = false
     WHERE chain_id = $1 AND address = $2`,
    [key.chainId, key.signer],
  );
  await endAlarm(tx, key.chainId, 'signer_stopped', key.signer);
}
