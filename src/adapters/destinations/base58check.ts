/** Base58Check as used by Bitcoin, Tron and the XRP Ledger, each with its alphabet and prefix. */
import { sha256 } from '@noble/hashes/sha2.js';
import type { base58 } from '@scure/base';

const CHECKSUM_BYTES = 4;

export const CHECKSUM_FAULT =
  'The checksum of the address does not match: a character is wrong, missing or extra.';

/**
 * The version byte and payload, or null if the checksum does not match. @scure/base has no Base58Check
 * for the XRP Ledger's alphabet, so the checksum is verified here for all networks.
 * @param value only characters of the alphabet
 */
export function decodeBase58Check(value: string, alphabet: typeof base58): Uint8Array | null {
  const bytes = alphabet.decode(value);
  const payload = bytes.subarray(0, -CHECKSUM_BYTES);
  const checksum = bytes.subarray(-CHECKSUM_BYTES);
  const expected = sha256(sha256(payload));
  return checksum.every((byte, index) => byte === expected[index]) ? payload : null;
}

/** The text of a version byte and payload. */
export function encodeBase58Check(payload: Uint8Array, alphabet: typeof base58): string {
  const checksum = sha256(sha256(payload)).subarray(0, CHECKSUM_BYTES);
  return alphabet.encode(Uint8Array.of(...payload, ...checksum));
}
