/** Which addresses the sender may connect to, in every notation of an address. */
import fc from 'fast-check';
import { BlockList } from 'node:net';
import { addressBytes, isInside, parseCidr } from '../../../src/platform/lib/cidr';
import {
  isAllowedAddress,
  isAllowedTwice,
  readAddressRules,
} from '../../../src/adapters/webhooks/address-policy';
import { dial } from '../../../src/adapters/webhooks/connect';
import { scaled } from '../../support/scale';
import { chooseSeed } from '../../support/seeded-random';

const PUBLIC_ONLY = readAddressRules([], []);
const seed = chooseSeed();
const SETTINGS = { seed, numRuns: scaled(200, 20_000) };

/** First and last address of each range, and the neighbours, which are ordinary. */
const IPV4_RANGES: [first: string, last: string, before: string | null, after: string | null][] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', null],
];

test.each(IPV4_RANGES)('IPv4 from %s to %s is refused, its neighbours are not', (...row) => {
  const [first, last, before, after] = row;
  const neighbours = [before, after].filter((address) => address !== null);
  for (const isAllowed of [isAllowedAddress, isAllowedTwice]) {
    expect([first, last].filter((address) => isAllowed(address, PUBLIC_ONLY))).toEqual([]);
    expect(neighbours.filter((address) => !isAllowed(address, PUBLIC_ONLY))).toEqual([]);
  }
});

/** The clock has ended already, so that nothing leaves this machine. */
test.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111'])(
  'the sender dials %s',
  async (address) => {
    const failing = dial([address], 443, PUBLIC_ONLY, AbortSignal.abort());
    await expect(failing).rejects.toMatchObject({ code: 'connect_timeout' });
  },
);

test.each(['127.0.0.1', '10.1.2.3', '::1', '::ffff:8.8.8.8'])(
  'the sender does not dial %s, alone or beside a public one',
  async (address) => {
    for (const addresses of [[address], ['8.8.8.8', address]]) {
      const failing = dial(addresses, 443, PUBLIC_ONLY, AbortSignal.abort());
      await expect(failing).rejects.toMatchObject({ code: 'url_blocked' });
    }
  },
);

test.each([
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['mapped loopback', '::ffff:127.0.0.1'],
  ['mapped, in hexadecimal', '::ffff:7f00:1'],
  ['a mapped public address', '::ffff:8.8.8.8'],
  ['compatible loopback', '::127.0.0.1'],
  ['compatible, in hexadecimal', '::7f00:1'],
  ['NAT64 of the metadata service', '64:ff9b::a9fe:a9fe'],
  ['local NAT64', '64:ff9b:1::a00:1'],
  ['6to4 of loopback', '2002:7f00:1::'],
  ['Teredo', '2001::1'],
  ['protocol assignments, the last', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::1'],
  ['documentation', '2001:db8::1'],
  ['new documentation', '3fff:fff::1'],
  ['AS112', '2620:4f:8000::1'],
  ['discard', '100::1'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fd00::1'],
  ['unique local, the lower half', 'fc00::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['a public address with a zone', '2606:4700::1111%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['just below what is handed out', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['just above what is handed out', '4000::'],
  ['ISATAP of a private address', '2606:4700::5efe:a00:1'],
  ['ISATAP with the universal bit', '2606:4700::200:5efe:a00:1'],
  ['no address', 'example.com'],
  ['nothing', ''],
  ['an address with a port', '8.8.8.8:53'],
  ['octal', '0177.0.0.1'],
])('IPv6: %s is refused: %s', (_, address) => {
  expect(isAllowedAddress(address, PUBLIC_ONLY)).toBe(false);
  expect(isAllowedTwice(address, PUBLIC_ONLY)).toBe(false);
});

test.each([
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700::1111',
  '2620:4f:8001::1',
  '3fff:1000::1',
  '2a00:1450:4001:82a::200e',
])('IPv6: %s is public', (address) => {
  expect(isAllowedAddress(address, PUBLIC_ONLY)).toBe(true);
  expect(isAllowedTwice(address, PUBLIC_ONLY)).toBe(true);
});

test.each([
  ['the cloud’s neighbour, by the operator', '8.8.8.8', [], ['8.8.0.0/16'], false],
  ['a private one, by the operator', '10.1.2.3', ['10.1.0.0/16'], [], true],
  ['a private one beside the allowed range', '10.2.0.0', ['10.1.0.0/16'], [], false],
  ['denied and allowed: denied', '10.1.2.3', ['10.0.0.0/8'], ['10.1.0.0/16'], false],
  ['a mapped dress of an allowed one', '::ffff:127.0.0.1', ['127.0.0.0/8'], [], false],
  ['an IPv6 loopback, by the operator', '::1', ['::1/128'], [], true],
  ['everything of IPv4', '127.0.0.1', ['0.0.0.0/0'], [], true],
  ['everything of IPv4 is nothing of IPv6', '::1', ['0.0.0.0/0'], [], false],
  ['a range within a byte', '172.20.0.1', ['172.20.0.0/14'], [], true],
  ['beside a range within a byte', '172.24.0.1', ['172.20.0.0/14'], [], false],
])('the operator’s lists: %s', (_, address, allow, deny, allowed) => {
  const rules = readAddressRules(allow, deny);
  expect(isAllowedAddress(address, rules)).toBe(allowed);
  expect(isAllowedTwice(address, rules)).toBe(allowed);
});

test.each([
  '10.0.0.0',
  '10.0.0.0/33',
  '10.0.0.1/8',
  'fd00::/129',
  'fd00::1/8',
  'fe80::%eth0/10',
  '10.0.0/8',
  'example.com/8',
  '10.0.0.0/-1',
  '/8',
  '',
])('%j is no CIDR, and the refusal names it', (text) => {
  expect(() => readAddressRules([text], [])).toThrow(text === '' ? 'CIDR' : text);
});

// The same ranges once more, read and compared by Node instead of by us.
const NOT_PUBLIC = new BlockList();
for (const [first, last] of IPV4_RANGES) NOT_PUBLIC.addRange(first, last);

const ipv4 = fc.ipV4();
const blockedIpv4 = fc
  .constantFrom(...IPV4_RANGES)
  .chain(([first, last]) =>
    fc.integer({ min: numberOf(first), max: numberOf(last) }).map(dottedDecimal),
  );
const suffix = fc.uint8Array({ minLength: 8, maxLength: 8 });
const publicPrefix = fc
  .uint8Array({ minLength: 8, maxLength: 8 })
  .map((bytes) => Uint8Array.from([0x26, 0x06, ...bytes.slice(2)]));

test(`a random IPv4 address is allowed when it is in no range above (seed ${seed})`, () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      const isPublic = !NOT_PUBLIC.check(address);
      expect(isAllowedAddress(address, PUBLIC_ONLY)).toBe(isPublic);
      expect(isAllowedTwice(address, PUBLIC_ONLY)).toBe(isPublic);
    }),
    SETTINGS,
  );
});

test(`a blocked IPv4 address is refused in every dress of IPv6 (seed ${seed})`, () => {
  fc.assert(
    fc.property(blockedIpv4, suffix, publicPrefix, (address, rest, prefix) => {
      expect(isAllowedAddress(address, PUBLIC_ONLY)).toBe(false);
      const worn = dresses(addressBytes(address)!, rest, prefix);
      const admitted = Object.entries(worn).filter(([, bytes]) =>
        isAllowedAddress(Uint8Array.from(bytes), PUBLIC_ONLY),
      );
      expect(admitted).toEqual([]);
    }),
    SETTINGS,
  );
});

/** What the ranges of IPv6 that carry an IPv4 address make of it. */
function dresses(
  four: Uint8Array,
  rest: Uint8Array,
  prefix: Uint8Array,
): Record<string, ArrayLike<number>> {
  const zeros = (count: number): number[] => Array<number>(count).fill(0);
  return {
    mapped: [...zeros(10), 0xff, 0xff, ...four],
    compatible: [...zeros(12), ...four],
    translated: [...zeros(8), 0xff, 0xff, 0, 0, ...four],
    nat64: [0, 0x64, 0xff, 0x9b, ...zeros(8), ...four],
    localNat64: [0, 0x64, 0xff, 0x9b, 0, 1, ...rest.slice(0, 6), ...four],
    sixToFour: [0x20, 0x02, ...four, ...rest, 0, 1],
    teredo: [0x20, 0x01, 0, 0, ...rest, ...four.map((byte) => byte ^ 0xff)],
    teredoServer: [0x20, 0x01, 0, 0, ...four, ...rest],
    isatap: [...prefix, 0, 0, 0x5e, 0xfe, ...four],
    isatapUniversal: [...prefix, 2, 0, 0x5e, 0xfe, ...four],
  };
}

test(`both opinions agree, and all spellings of an address are one (seed ${seed})`, () => {
  const anyBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const inPublic = anyBytes.map((bytes) => bytes.with(0, 0x20 | (bytes[0]! & 0x1f)));
  fc.assert(
    fc.property(fc.oneof(anyBytes, inPublic), (bytes) => {
      const spelled = spellings(bytes);
      for (const text of spelled) expect(addressBytes(text)).toEqual(bytes);
      expect(isAllowedTwice(spelled[0]!, PUBLIC_ONLY)).toBe(isAllowedAddress(bytes, PUBLIC_ONLY));
    }),
    SETTINGS,
  );
});

/** In full, shortened, in capitals, with a dotted tail. */
function spellings(bytes: Uint8Array): string[] {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[index * 2]! << 8) | bytes[index * 2 + 1]!).toString(16),
  );
  const full = groups.join(':');
  const short = new URL(`http://[${full}]`).hostname.slice(1, -1);
  const dotted = `${groups.slice(0, 6).join(':')}:${bytes.slice(12).join('.')}`;
  return [full, short, full.toUpperCase(), dotted];
}

test('an address of another length than 4 and 16 bytes is refused', () => {
  for (const length of [0, 1, 5, 15, 17]) {
    expect(isAllowedAddress(new Uint8Array(length).fill(0x20), PUBLIC_ONLY)).toBe(false);
  }
});

test('a CIDR of no bits holds every address of its family', () => {
  expect(isInside(addressBytes('255.1.2.3')!, parseCidr('0.0.0.0/0'))).toBe(true);
  expect(isInside(addressBytes('ff02::1')!, parseCidr('::/0'))).toBe(true);
});

function numberOf(address: string): number {
  return Buffer.from(addressBytes(address)!).readUInt32BE();
}

function dottedDecimal(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
}
