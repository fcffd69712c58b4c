/** What the networks ask of a destination (decisions/currencies and decisions/destinations). */

/** Networks where an address alone may not name the recipient, and what the memo looks like. */
const MEMO_REQUIRED: Readonly<Record<string, { pattern: RegExp; shape: string }>> = {
  xrpl: { pattern: /^[0-9]{1,10}$/, shape: 'a destination tag from 0 to 4294967295' },
};
const TAG_MAX = 4_294_967_295n;

export type MemoFault = 'memo_required' | 'memo_not_supported' | 'format';

/**
 * What is wrong with the memo on this network, or null.
 * @param memo null: the destination has none; undefined: nobody said whether it has one
 */
export function memoFault(
  network: string | null,
  memo: string | null | undefined,
): MemoFault | null {
  const rule = network === null ? undefined : MEMO_REQUIRED[network];
  if (rule === undefined) return (memo ?? null) === null ? null : 'memo_not_supported';
  if (memo === undefined) return 'memo_required';
  if (memo === null) return null;
  return rule.pattern.test(memo) && BigInt(memo) <= TAG_MAX ? null : 'format';
}

/**
 * Which network a payment takes when its request names none: those with low fees for the customer first.
 * Networks that are not listed follow, in the order of their names.
 */
const DEFAULT_NETWORKS = ['base', 'tron', 'ethereum'];

/** Sorts networks by it. */
export function byDefaultNetwork(one: string, other: string): number {
  const place = (network: string): number => {
    const index = DEFAULT_NETWORKS.indexOf(network);
    return index < 0 ? DEFAULT_NETWORKS.length : index;
  };
  if (one === other) return 0;
  if (place(one) !== place(other)) return place(one) - place(other);
  return one < other ? -1 : 1;
}

/** What a memo on this network has to be, in words. */
export function memoShape(network: string | null): string {
  return (network === null ? undefined : MEMO_REQUIRED[network]?.shape) ?? 'absent';
}
