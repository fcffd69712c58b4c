/**
 * Frees the nonce of a stuck transaction: an operator decides it, and the sender signs an empty
 * transaction with the same nonce and higher fees. The chain takes one of the two. The transfer gets
 * another nonce only when the empty one is final, because then none of its own can ever be mined.
 */
import { getAddress } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Database } from '../db/database';
import { recordDecision } from '../decisions';

interface Freed {
  chainId: number;
  nonce: bigint;
  /** Null stands for the only hot wallet that has this nonce in flight. */
  address: string | null;
  by: string;
  reason: string;
}

/**
 * @returns false when it was decided already
 * @throws SetupError when no transaction with this nonce is in flight
 */
export async function freeNonce(
  db: Database,
  { chainId, nonce, address, by, reason }: Freed,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const slots = await tx.query<{ signer: string; isFreed: boolean }>(
      `SELECT signer, freed_at IS NOT NULL AS "isFreed" FROM wallet.slot
       WHERE chain_id = $1 AND nonce = $2 AND state = 'open' AND ($3::text IS NULL OR signer = $3)
       ORDER BY signer FOR UPDATE`,
      [chainId, nonce, address?.toLowerCase() ?? null],
    );
    const [slot] = slots;
    if (slot === undefined) {
      throw new SetupError(`No transaction with nonce ${nonce} is in flight.`);
    }
    if (slots.length > 1) {
      const addresses = slots.map(({ signer }) => getAddress(signer)).join(', ');
      throw new SetupError(
        `Several hot wallets have nonce ${nonce} in flight. Name one of them with --signer: ${addresses}.`,
      );
    }
    if (slot.isFreed) return false;
    await tx.query(
      `UPDATE wallet.slot SET freed_at = clock_timestamp()
       WHERE chain_id = $1 AND signer = $2 AND nonce = $3`,
      [chainId, slot.signer, nonce],
    );
    await recordDecision(tx, {
      chainId,
      kind: 'free_nonce',
      address: slot.signer,
      by,
      reason: `nonce ${nonce}: ${reason}`,
    });
    return true;
  });
}
