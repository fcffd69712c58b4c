/** Tron addresses: Base58Check of the byte 0x41 and 20 bytes. */
import { base58 } from '@scure/base';
import { CHECKSUM_FAULT, decodeBase58Check } from './base58check';

const SHAPE = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const VERSION = 0x41;
const PAYLOAD_BYTES = 21;

export function tronFault(value: string): string | null {
  if (!SHAPE.test(value)) {
    return 'A Tron address starts with "T" and has 34 letters and digits, without 0, O, I and l.';
  }
  const payload = decodeBase58Check(value, base58);
  if (payload === null) return CHECKSUM_FAULT;
  return payload.length === PAYLOAD_BYTES && payload[0] === VERSION
    ? null
    : 'This is not a Tron address, although its checksum matches.';
}
