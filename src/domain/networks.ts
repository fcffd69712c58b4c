/**
 * The rules of the networks for a destination (decisions/money#currencies and
 * decisions/payouts#destinations), and where people look at them.
 */
import type { Mode } from './mode';

/**
 * The networks on which an address alone may not name the recipient. The pattern and the words describe the
 * memo.
 */
const MEMO_REQUIRED: Readonly<Record<string, { pattern: RegExp; shape: string }>> = {
  xrpl: { pattern: /^[0-9]{1,10}$/, shape: 'a destination tag from 0 to 4294967295' },
};
const TAG_MAX = 4_294_967_295n;

/** What is wrong with a memo. */
export type MemoFault = 'memo_required' | 'memo_not_supported' | 'format';

/**
 * What is wrong with the memo on this network, or null.
 * @param memo null if the destination has none; undefined if nobody said whether it has one
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

/** The pages on which people look up addresses and transactions; {} stands for the address or the hash. */
const EXPLORERS: Readonly<Record<string, { address: string; transaction: string }>> = {
  ethereum: {
    address: 'https://etherscan.io/address/{}',
    transaction: 'https://etherscan.io/tx/{}',
  },
  base: { address: 'https://basescan.org/address/{}', transaction: 'https://basescan.org/tx/{}' },
  tron: {
    address: 'https://tronscan.org/#/address/{}',
    transaction: 'https://tronscan.org/#/transaction/{}',
  },
  bitcoin: {
    address: 'https://mempool.space/address/{}',
    transaction: 'https://mempool.space/tx/{}',
  },
  xrpl: {
    address: 'https://livenet.xrpl.org/accounts/{}',
    transaction: 'https://livenet.xrpl.org/transactions/{}',
  },
};

/** Null if the network has none. What happens in test mode is on no public network. */
export function explorerUrl(
  what: 'address' | 'transaction',
  { network, mode }: { network: string | null; mode: Mode },
  value: string,
): string | null {
  const template = network === null || mode === 'test' ? undefined : EXPLORERS[network]?.[what];
  return template?.replace('{}', encodeURIComponent(value)) ?? null;
}
