/**
 * After an accepted reorganization: slots whose receipts are gone with their blocks are followed again.
 * A payout that was sent keeps its outcome, and the same bytes are broadcast again. A transaction that was
 * reverted is never broadcast again, because the money was released: an empty one takes its nonce. Where
 * its payout has another nonce since, a person sends the empty one.
 */
import type { Tx } from '../db/database';

export interface Reopened {
  reopened: number;
  /** Payouts whose nonce the accepted chain has not used: their references. */
  lost: string[];
  /** These nonces are not used on the chain and have no transaction, so nothing later can be mined. */
  gaps: { signer: string; nonce: bigint }[];
}

/** @param used signer → its nonces below this one are used on the accepted chain */
export async function reopenSlots(
  tx: Tx,
  chainId: number,
  fork: number,
  used: ReadonlyMap<string, bigint>,
): Promise<Reopened> {
  let reopened = 0;
  const lost: string[] = [];
  const gaps: Reopened['gaps'] = [];
  for (const [signer, nonces] of used) {
    const from = nonces.toString();
    const sent = await tx.query<{ reference: string; isLost: boolean }>(
      `UPDATE wallet.slot SET state = 'open', settled_block = NULL FROM wallet.transfer
       WHERE slot.chain_id = $1 AND signer = $2 AND state = 'sent' AND transfer.id = transfer_id
         AND (settled_block > $3 OR settled_block IS NULL AND nonce >= $4)
       RETURNING client_reference AS reference, nonce >= $4 AS "isLost"`,
      [chainId, signer, fork, from],
    );
    reopened += sent.length;
    lost.push(...sent.filter(({ isLost }) => isLost).map(({ reference }) => reference));
    await tx.query(
      `UPDATE wallet.slot SET state = 'open', settled_block = NULL,
         freed_at = coalesce(freed_at, clock_timestamp())
       WHERE chain_id = $1 AND signer = $2 AND (settled_block > $3 OR nonce >= $4)
         AND (state = 'failed' OR state = 'foreign' AND settled_block IS NOT NULL
           AND freed_at IS NULL AND NOT EXISTS (
             SELECT 1 FROM wallet.slot AS other
             WHERE other.transfer_id = slot.transfer_id AND other.state <> 'foreign'))`,
      [chainId, signer, fork, from],
    );
    // They are broadcast at once, and not when they are due again.
    await tx.query(
      `UPDATE wallet.attempt SET broadcast_at = NULL FROM wallet.slot
       WHERE slot.chain_id = $1 AND slot.signer = $2 AND slot.nonce >= $3 AND slot.state = 'open'
         AND (attempt.chain_id, attempt.signer, attempt.nonce) =
           (slot.chain_id, slot.signer, slot.nonce)`,
      [chainId, signer, from],
    );
    gaps.push(...(await findGaps(tx, chainId, signer, from)));
  }
  return { reopened, lost, gaps };
}

async function findGaps(
  tx: Tx,
  chainId: number,
  signer: string,
  from: string,
): Promise<Reopened['gaps']> {
  const rows = await tx.query<{ nonce: string }>(
    `SELECT nonce FROM wallet.signer, generate_series($3::bigint, next_nonce - 1) AS nonce
     WHERE chain_id = $1 AND address = $2 AND NOT EXISTS (
       SELECT 1 FROM wallet.slot WHERE slot.chain_id = $1 AND slot.signer = $2
         AND slot.nonce = nonce.nonce AND state = 'open')`,
    [chainId, signer, from],
  );
  return rows.map(({ nonce }) => ({ signer, nonce: BigInt(nonce) }));
}
