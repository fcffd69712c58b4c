/**
 * The mark that a transfer leaves on its transaction: the low bits of the gas limit and of the maximum
 * fee come from the client reference. They cost nothing, because only the gas that is used is paid, at
 * the base fee and the tip. Fee bumps keep them. So two transfers of the same amount to the same address
 * can be told apart on the chain, also by a wallet whose database is older than the transaction.
 */
import { createHash } from 'node:crypto';
import type { Fees } from './fees';

/** The mark adds at most 4,095 gas. */
const GAS_BITS = 12n;
/** The mark adds at most 0.001 gwei. With both, one pair of like transfers in 4 billion has the same mark. */
const FEE_BITS = 20n;
export const MARK_MASK = (1n << GAS_BITS) - 1n;
const FEE_STEP = 1n << FEE_BITS;

function fingerprintOf(reference: string): { gas: bigint; fee: bigint } {
  const bits = BigInt(createHash('sha256').update(reference).digest().readUInt32BE(0));
  return { gas: bits & MARK_MASK, fee: bits >> GAS_BITS };
}

/** @returns the smallest gas limit that is at least this one and has the reference's mark */
export function markGas(gas: bigint, reference: string): bigint {
  return gas + ((fingerprintOf(reference).gas - gas) & MARK_MASK);
}

/** @returns the same fees with the smallest maximum that is at least this one and has the mark */
export function markFees(fees: Fees, reference: string): Fees {
  const missing = (fingerprintOf(reference).fee - fees.maxFeePerGas) & (FEE_STEP - 1n);
  return { ...fees, maxFeePerGas: fees.maxFeePerGas + missing };
}

/** @returns the same, or fees with the largest maximum that has the mark and is not above the cap */
export function markFeesBelow(fees: Fees, reference: string, cap: bigint): Fees {
  const { maxFeePerGas, maxPriorityFeePerGas } = markFees(fees, reference);
  const max = maxFeePerGas <= cap ? maxFeePerGas : maxFeePerGas - FEE_STEP;
  // A cap below 0.001 gwei leaves no room for the mark.
  if (max < 0n) return fees;
  return {
    maxFeePerGas: max,
    maxPriorityFeePerGas: max < maxPriorityFeePerGas ? max : maxPriorityFeePerGas,
  };
}

export function hasMark(
  { gas, maxFeePerGas }: { gas: bigint; maxFeePerGas: bigint },
  reference: string,
): boolean {
  const mark = fingerprintOf(reference);
  return (gas & MARK_MASK) === mark.gas && (maxFeePerGas & (FEE_STEP - 1n)) === mark.fee;
}
