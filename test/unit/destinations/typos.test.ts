/**
 * A slip of the hand never makes another valid address. A checksum of 32 bits lets one slip in
 * four billion pass, so chance may choose there; EIP-55 lets one in some thousands pass, so its
 * slips are counted out on fixed addresses.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { base58xrp, bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { CHECKED_NETWORKS, destinationFault } from '../../../src/adapters/destinations';
import { scaled } from '../../support/scale';

const base58check = createBase58check(sha256);

const withVersion = (version: number, bytes: Uint8Array) => Uint8Array.from([version, ...bytes]);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

function encodeXrpl(account: Uint8Array): string {
  const payload = withVersion(0, account);
  return base58xrp.encode(Uint8Array.from([...payload, ...sha256(sha256(payload)).slice(0, 4)]));
}

/** Addresses of any bytes, made the other way round. */
const KINDS = [
  { kind: 'tron', network: 'tron', of: bytes(20).map((hash) => tag(0x41, hash)) },
  { kind: 'bitcoin key hash', network: 'bitcoin', of: bytes(20).map((hash) => tag(0x00, hash)) },
  { kind: 'bitcoin script hash', network: 'bitcoin', of: bytes(20).map((hash) => tag(0x05, hash)) },
  { kind: 'segwit key hash', network: 'bitcoin', of: bytes(20).map((hash) => segwit(0, hash)) },
  { kind: 'segwit script hash', network: 'bitcoin', of: bytes(32).map((hash) => segwit(0, hash)) },
  { kind: 'taproot', network: 'bitcoin', of: bytes(32).map((key) => segwit(1, key)) },
  { kind: 'xrpl', network: 'xrpl', of: bytes(20).map(encodeXrpl) },
];

function tag(version: number, hash: Uint8Array): string {
  return base58check.encode(withVersion(version, hash));
}

function segwit(version: 0 | 1, program: Uint8Array): string {
  const coder = version === 0 ? bech32 : bech32m;
  return coder.encode('bc', [version, ...coder.toWords(program)]);
}

const ALPHANUMERIC = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const LETTERS = [...ALPHANUMERIC, ' ', '-', 'é'];

const slip = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'insert', 'remove', 'swap'),
  at: fc.nat(),
  letter: fc.constantFrom(...LETTERS),
});

function slipped(
  address: string,
  { kind, at, letter }: { kind: string; at: number; letter: string },
) {
  const index = at % address.length;
  const [before, here, after] = [address.slice(0, index), address[index], address.slice(index + 1)];
  switch (kind) {
    case 'insert':
      return `${before}${letter}${here}${after}`;
    case 'remove':
      return `${before}${after}`;
    case 'swap':
      return `${before}${after.slice(0, 1)}${here}${after.slice(1)}`;
    default:
      return `${before}${letter}${after}`;
  }
}

test.each(KINDS)('an address of any bytes is taken, with a slip it is not: $kind', (row) => {
  fc.assert(
    fc.property(row.of, slip, (address, mistake) => {
      expect(destinationFault(row.network, address)).toBeNull();
      const mistyped = slipped(address, mistake);
      fc.pre(mistyped !== address);
      expect(destinationFault(row.network, mistyped)).not.toBeNull();
    }),
    { numRuns: scaled(60, 6_000) },
  );
});

test('a checksum over another prefix that begins with bc1 does not count', () => {
  const words = [0, ...bech32.toWords(new Uint8Array(20))];
  expect(destinationFault('bitcoin', bech32.encode('bc', words))).toBeNull();
  expect(destinationFault('bitcoin', bech32.encode('bc1q', words))).toMatch(/checksum/);
});

test.each([
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
])('no single character of %s can change', (address) => {
  for (const [index, right] of Array.from(address).entries()) {
    for (const letter of LETTERS.filter((other) => other !== right)) {
      const mistyped = `${address.slice(0, index)}${letter}${address.slice(index + 1)}`;
      expect([mistyped, destinationFault('ethereum', mistyped)]).not.toEqual([mistyped, null]);
    }
  }
});

test('any text gets a sentence or passes; none is repeated and none makes a fault', () => {
  const start = fc.constantFrom('', 'bc1', 'BC1Q', 'bc1p', 'tb1', '1', '3', 'T', 'r', 'X', '0x');
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 255 }),
    fc
      .tuple(start, fc.string({ unit: 'grapheme-ascii', maxLength: 100 }))
      .map((part) => part.join('')),
    fc
      .tuple(start, fc.array(fc.constantFrom(...ALPHANUMERIC), { maxLength: 90 }))
      .map(([prefix, letters]) => prefix + letters.join('')),
  );
  fc.assert(
    fc.property(fc.constantFrom(...CHECKED_NETWORKS), text, (network, value) => {
      const fault = destinationFault(network, value);
      if (value.length > 20) expect(fault ?? '').not.toContain(value);
      expect(fault ?? 'It passes.').toMatch(/^[A-Z].*\.$/);
    }),
    { numRuns: scaled(200, 20_000) },
  );
});
