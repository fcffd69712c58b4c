/** XRP Ledger addresses: Base58Check, with its own alphabet, of a zero byte and 20 bytes. */
import { base58xrp } from '@scure/base';
import { CHECKSUM_FAULT, decodeBase58Check } from './base58check';

const SHAPE = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/;
const X_ADDRESS = /^[XT][1-9A-HJ-NP-Za-km-z]{46}$/;
const VERSION = 0;
const PAYLOAD_BYTES = 21;

export function xrplFault(value: string): string | null {
  // An X-address contains a tag, which could contradict destination.memo.
  if (X_ADDRESS.test(value)) {
    return 'This is an X-address. Send the classic address, which starts with "r", and its tag in destination.memo.';
  }
  if (!SHAPE.test(value)) {
    return 'An XRP Ledger address starts with "r" and has 25 to 35 letters and digits, without 0, O, I and l.';
  }
  const payload = decodeBase58Check(value, base58xrp);
  if (payload === null) return CHECKSUM_FAULT;
  return payload.length === PAYLOAD_BYTES && payload[0] === VERSION
    ? null
    : 'This is not an XRP Ledger address, although its checksum matches.';
}
