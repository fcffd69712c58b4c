/**
 * Bitcoin mainnet addresses: Base58Check for P2PKH and P2SH, bech32 for segwit version 0 (BIP 173),
 * bech32m for version 1, taproot (BIP 350).
 */
import { base58, bech32, bech32m } from '@scure/base';
import { CHECKSUM_FAULT, decodeBase58Check } from './base58check';

const SEGWIT = /^bc1/i;
const TEST_SEGWIT = /^(tb|bcrt)1/i;
const BASE58_SHAPE = /^[1-9A-HJ-NP-Za-km-z]{25,35}$/;

const PAYLOAD_BYTES = 21;
const MAIN_VERSIONS = [0x00, 0x05];
const TEST_VERSIONS = [0x6f, 0xc4];

/** Allowed lengths of the witness program, by segwit version. */
const PROGRAM_BYTES: readonly (readonly number[])[] = [[20, 32], [32]];

const SHAPE_FAULT =
  'A Bitcoin address starts with "bc1", "1" or "3" and contains only the characters of its format.';
const TEST_NETWORK_FAULT = 'This is a Bitcoin testnet address. Send a mainnet address.';

export function bitcoinFault(value: string): string | null {
  if (TEST_SEGWIT.test(value)) return TEST_NETWORK_FAULT;
  if (SEGWIT.test(value)) return segwitFault(value);
  return BASE58_SHAPE.test(value) ? base58Fault(value) : SHAPE_FAULT;
}

function base58Fault(value: string): string | null {
  const payload = decodeBase58Check(value, base58);
  if (payload === null) return CHECKSUM_FAULT;
  const version = payload[0] ?? -1;
  if (payload.length !== PAYLOAD_BYTES) return SHAPE_FAULT;
  if (TEST_VERSIONS.includes(version)) return TEST_NETWORK_FAULT;
  return MAIN_VERSIONS.includes(version) ? null : 'This is not a Bitcoin address.';
}

function segwitFault(value: string): string | null {
  if (value !== value.toLowerCase() && value !== value.toUpperCase()) {
    return 'An address that starts with "bc1" must be all lower case or all upper case.';
  }
  // No text is valid in both encodings; the version determines which one is required.
  const asBech32 = bech32.decodeUnsafe(value);
  const decoded = asBech32 ?? bech32m.decodeUnsafe(value);
  if (decoded?.prefix !== 'bc') return CHECKSUM_FAULT;
  const [version, ...program] = decoded.words;
  if (version === undefined) return SHAPE_FAULT;
  if ((version === 0) !== (decoded === asBech32)) return CHECKSUM_FAULT;
  const sizes = PROGRAM_BYTES[version];
  // Such an address is valid by BIP 350, but anybody could spend funds sent to it.
  if (sizes === undefined)
    return 'Segwit versions above 1 are not in use; the funds would be lost.';
  const bytes = bech32.fromWordsUnsafe(program);
  return bytes !== undefined && sizes.includes(bytes.length)
    ? null
    : `The length of the address is not valid for segwit version ${version}.`;
}
