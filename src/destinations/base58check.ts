/** Base58Check, which Bitcoin, Tron and the XRP Ledger share, each with an alphabet or a prefix. */
import { sha256 } from '@noble/hashes/sha2.js';
import type { base58 } from '@scure/base';

const CHECKSUM_BYTES = 4;

export const CHECKSUM_FAULT =
  'The checksum of this address does not match: a character is wrong, missing or too many.';

/**
 * The version bytes and payload, or null when the checksum does not match. The XRP Ledger's
 * alphabet has no checked codec in @scure/base, so the last step is taken here for all.
 * @param value of letters of the alphabet only
 */
export function decodeBase58Check(value: string, alphabet: typeof base58): Uint8Array | null {
  const bytes = alphabet.decode(value);
  const payload = bytes.subarray(0, -CHECKSUM_BYTES);
  const checksum = bytes.subarray(-CHECKSUM_BYTES);
  const expected = sha256(sha256(payload));
  return checksum.every((byte, index) => byte === expected[index]) ? payload : null;
}
