/**
 * The bloom filter of a block's logs, which its header holds: for each address and topic of the logs,
 * three of 2,048 bits are set (Ethereum's yellow paper, section 4.3.1). A bit that is not set proves
 * that the block has no such log; an empty answer about a block whose bits are set proves nothing.
 */
import { type Hex, hexToBytes, keccak256 } from 'viem';

const BITS = 2_048;
const known = new Map<string, readonly number[]>();
const KNOWN_MAX = 200_000;

/** @param item an address or a topic */
function bitsOf(item: Hex): readonly number[] {
  const stored = known.get(item);
  if (stored !== undefined) return stored;
  const hash = keccak256(hexToBytes(item), 'bytes');
  const bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) % BITS);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(item, bits);
  return bits;
}

/** False: no log of the block has this address or topic. */
export type Bloom = (item: Hex) => boolean;

/** @param logsBloom of a header; a chain without blooms says nothing, so everything may be there */
export function readBloom(logsBloom: Hex | undefined): Bloom {
  if (logsBloom === undefined || logsBloom.length !== 2 + BITS / 4) return () => true;
  const bytes = hexToBytes(logsBloom);
  const isSet = (bit: number): boolean =>
    ((bytes[BITS / 8 - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
  return (item) => bitsOf(item).every(isSet);
}

/** Whether logs with these addresses and topics explain every bit of a header's filter. */
export function isExplained(
  logsBloom: Hex | undefined,
  logs: readonly { address: Hex; topics: readonly Hex[] }[],
): boolean {
  if (logsBloom === undefined || logsBloom.length !== 2 + BITS / 4) return true;
  const bytes = hexToBytes(logsBloom);
  // A chain that sets every bit says nothing.
  if (bytes.every((byte) => byte === 0xff)) return true;
  for (const { address, topics } of logs) {
    for (const bit of [address, ...topics].flatMap(bitsOf)) {
      const at = BITS / 8 - 1 - (bit >> 3);
      bytes[at] = (bytes[at] ?? 0) & ~(1 << (bit & 7));
    }
  }
  return bytes.every((byte) => byte === 0);
}
