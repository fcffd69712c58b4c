/** What a transaction offers for its gas (EIP-1559), all in wei per gas. */

export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

interface Market {
  baseFeePerGas: bigint;
  priorityFeePerGas: bigint;
}

/** Stays valid when the base fee doubles, which takes six full blocks. */
export function firstFees({ baseFeePerGas, priorityFeePerGas }: Market, cap: bigint): Fees {
  const maxFeePerGas = min(2n * baseFeePerGas + priorityFeePerGas, cap);
  return { maxFeePerGas, maxPriorityFeePerGas: min(priorityFeePerGas, maxFeePerGas) };
}

/**
 * Nodes accept a replacement when both fees are at least 10 % higher, some when they are 12.5 %
 * higher. Null when the cap leaves no room for that.
 * @param mark raises the maximum to the next one with the transfer's mark
 */
export function raisedFees(
  before: Fees,
  market: Market,
  cap: bigint,
  mark: (fees: Fees) => Fees,
): Fees | null {
  const now = firstFees(market, cap);
  const maxFeePerGas = max(byOneEighth(before.maxFeePerGas), now.maxFeePerGas);
  const maxPriorityFeePerGas = max(
    byOneEighth(before.maxPriorityFeePerGas),
    now.maxPriorityFeePerGas,
  );
  const raised = mark({
    maxFeePerGas: max(maxFeePerGas, maxPriorityFeePerGas),
    maxPriorityFeePerGas,
  });
  return raised.maxFeePerGas > cap ? null : raised;
}

/** The fee is rounded up, so it is never the same again. */
function byOneEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

export function min(...values: readonly [bigint, ...bigint[]]): bigint {
  return values.reduce((least, value) => (value < least ? value : least));
}

export function max(...values: readonly [bigint, ...bigint[]]): bigint {
  return values.reduce((most, value) => (value > most ? value : most));
}
