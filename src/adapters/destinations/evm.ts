/** Addresses of Ethereum and compatible networks (EIP-55). */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex, utf8 } from '@scure/base';

const SHAPE = /^0x[0-9a-fA-F]{40}$/;

export function evmFault(value: string): string | null {
  if (!SHAPE.test(value)) {
    return 'An address of this network is "0x" followed by 40 digits (0-9, a-f).';
  }
  const digits = value.slice('0x'.length);
  // An address in a single case has no checksum, which EIP-55 allows.
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return null;
  return digits === withChecksum(digits.toLowerCase())
    ? null
    : 'The upper-case letters of the address do not match its checksum: a character is wrong.';
}

/** The digits with their checksum: a letter is upper case where the hash of the address has a digit of 8 or more. */
export function withChecksum(digits: string): string {
  const hash = hex.encode(keccak_256(utf8.decode(digits)));
  return Array.from(digits, (digit, index) =>
    '89abcdef'.includes(hash.charAt(index)) ? digit.toUpperCase() : digit,
  ).join('');
}
