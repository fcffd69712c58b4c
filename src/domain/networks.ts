/** What the networks ask of a destination (decisions/currencies and decisions/destinations). */

/**
 * On these networks an address alone may not name the recipient. The pattern and the words describe the
 * memo.
 */
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
 * The order in which a payment without a network takes one. Networks with low fees for the customer
 * come first. Networks that are not listed follow by name.
 */
const DEFAULT_NETWORKS = ['base', 'tron', 'ethereum'];

/** Compares two networks for a sort by DEFAULT_NETWORKS and then by name. */
export function byDefaultNetwork(one: string, other: string): number {
  const rank = (network: string): number => {
    const index = DEFAULT_NETWORKS.indexOf(network);
    return index < 0 ? DEFAULT_NETWORKS.length : index;
  };
  if (one === other) return 0;
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  return one < other ? -1 : 1;
}

/** The form of a memo on this network, in words. */
export function memoShape(network: string | null): string {
  return (network === null ? undefined : MEMO_REQUIRED[network]?.shape) ?? 'absent';
}
