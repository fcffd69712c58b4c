/**
 * The bloom filter of a block's logs, which its header holds: for each address and topic of the logs,
 * three of 2,048 bits are set (Ethereum's yellow paper, section 4.3.1). Logs that leave a bit
 * unexplained are not all, and logs that would set another bit are not of this block.
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

/** @param logsBloom of a header; a chain whose headers have none, or set every bit, says nothing */
export function matchesBloom(
  logsBloom: Hex | undefined,
  logs: readonly { address: Hex; topics: readonly Hex[] }[],
): boolean {
  if (logsBloom === undefined || logsBloom.length !== 2 + BITS / 4) return true;
  const stated = hexToBytes(logsBloom);
  if (stated.every((byte) => byte === 0xff)) return true;
  const made = new Uint8Array(BITS / 8);
  for (const { address, topics } of logs) {
    for (const bit of [address, ...topics].flatMap(bitsOf)) {
      const at = BITS / 8 - 1 - (bit >> 3);
      made[at] = (made[at] ?? 0) | (1 << (bit & 7));
    }
  }
  return stated.every((byte, at) => byte === made[at]);
}
