/** What the networks ask of a destination (decisions M5 and O10). */

/** Networks where an address alone does not name the recipient, and what the memo looks like. */
const MEMO_REQUIRED: Readonly<Record<string, { pattern: RegExp; shape: string }>> = {
  xrpl: { pattern: /^[0-9]{1,10}$/, shape: 'a destination tag from 0 to 4294967295' },
};
const TAG_MAX = 4_294_967_295n;

export type MemoFault = 'memo_required' | 'memo_not_supported' | 'format';

/** What is wrong with the memo on this network, or null. */
export function memoFault(network: string | null, memo: string | null): MemoFault | null {
  const rule = network === null ? undefined : MEMO_REQUIRED[network];
  if (rule === undefined) return memo === null ? null : 'memo_not_supported';
  if (memo === null) return 'memo_required';
  return rule.pattern.test(memo) && BigInt(memo) <= TAG_MAX ? null : 'format';
}

/** What a memo on this network has to be, in words. */
export function memoShape(network: string | null): string {
  return (network === null ? undefined : MEMO_REQUIRED[network]?.shape) ?? 'absent';
}
