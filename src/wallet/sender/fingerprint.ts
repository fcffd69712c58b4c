/**
 * The mark that a transfer leaves on its transaction: the low bits of the gas limit come from the
 * client reference. They cost nothing, because unused gas is refunded, and they stay when the fees are
 * raised. So two transfers of the same amount to the same address can be told apart on the chain, also
 * by a wallet whose database is older than the transaction.
 */
import { createHash } from 'node:crypto';

/** At most 4,095 gas more; one pair of like transfers in 4,096 has the same mark. */
const BITS = 12n;
export const MARK_MASK = (1n << BITS) - 1n;

function fingerprintOf(reference: string): bigint {
  const digest = createHash('sha256').update(reference).digest();
  return BigInt(digest.readUInt32BE(0)) & MARK_MASK;
}

/** @returns the smallest gas limit that is at least this one and has the reference's mark */
export function markGas(gas: bigint, reference: string): bigint {
  return gas + ((fingerprintOf(reference) - gas) & MARK_MASK);
}

export function hasMark(gas: bigint, reference: string): boolean {
  return (gas & MARK_MASK) === fingerprintOf(reference);
}
