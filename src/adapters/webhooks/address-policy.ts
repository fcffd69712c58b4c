/**
 * Which addresses the sender may connect to (decisions/webhooks#webhook-targets): public addresses only. The ranges
 * follow the IANA special-purpose registries. The check is our own because libraries that classify
 * addresses have gaps (one treats `::7f00:1` as ordinary), and one gap exposes the internal network.
 *
 * Addresses and CIDRs are compared as bytes, so the notation of an address does not matter.
 */
import { BlockList, isIPv4 } from 'node:net';
import { addressBytes, type Cidr, isInside, parseCidr } from '../../platform/lib/cidr';

export interface AddressRules {
  /** Allowed, although not public. */
  allow: readonly Cidr[];
  /** Forbidden, even if public or allowed above. */
  deny: readonly Cidr[];
}

/** The ranges of IPv4 that are not public. */
const BLOCKED_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; services of some clouds
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's host service on a public address
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/**
 * The allocated part of IPv6. It excludes loopback, mapped, compatible and NAT64 forms of IPv4,
 * unique local, link-local, site-local and multicast addresses.
 */
const PUBLIC_IPV6 = '2000::/3';
const BLOCKED_IPV6 = [
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];
/** The parts of IPv6 outside of 2000::/3. */
const OUTSIDE_PUBLIC_IPV6 = ['::/3', '4000::/2', '8000::/1'];

const PUBLIC_CIDR = parseCidr(PUBLIC_IPV6);
const BLOCKED_CIDRS = [...BLOCKED_IPV4, ...BLOCKED_IPV6].map(parseCidr);

/** @throws Error that names an invalid CIDR */
export function readAddressRules(allow: readonly string[], deny: readonly string[]): AddressRules {
  return { allow: allow.map(parseCidr), deny: deny.map(parseCidr) };
}

/** @param address 4 or 16 bytes, or text without brackets */
export function isAllowedAddress(address: Uint8Array | string, rules: AddressRules): boolean {
  const bytes = typeof address === 'string' ? addressBytes(address) : address;
  if (bytes === null || ![4, 16].includes(bytes.length)) return false;
  const isIn = (cidr: Cidr): boolean => isInside(bytes, cidr);
  if (rules.deny.some(isIn)) return false;
  return rules.allow.some(isIn) || isPublic(bytes);
}

function isPublic(bytes: Uint8Array): boolean {
  if (BLOCKED_CIDRS.some((cidr) => isInside(bytes, cidr))) return false;
  return bytes.length === 4 || (isInside(bytes, PUBLIC_CIDR) && !isIsatap(bytes));
}

/** ISATAP embeds an IPv4 address after 0000:5efe or 0200:5efe, under any prefix. */
function isIsatap(bytes: Uint8Array): boolean {
  return (
    (bytes[8] === 0x00 || bytes[8] === 0x02) &&
    bytes[9] === 0x00 &&
    bytes[10] === 0x5e &&
    bytes[11] === 0xfe
  );
}

/** One list per family: Node also compares an IPv4 address, in its mapped form, with IPv6 ranges. */
const SECOND_LINE = {
  ipv4: blockList('ipv4', BLOCKED_IPV4),
  ipv6: blockList('ipv6', [...BLOCKED_IPV6, ...OUTSIDE_PUBLIC_IPV6]),
};

function blockList(family: 'ipv4' | 'ipv6', cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', prefix = ''] = cidr.split('/');
    list.addSubnet(network, parseInt(prefix, 10), family);
  }
  return list;
}

/**
 * A second check with Node's own parser and comparison, so that a mistake in ours has no effect. It
 * does not know the operator's lists, so it is skipped for addresses that they allow.
 */
export function isAllowedTwice(address: string, rules: AddressRules): boolean {
  if (!isAllowedAddress(address, rules)) return false;
  const bytes = addressBytes(address);
  if (bytes !== null && rules.allow.some((cidr) => isInside(bytes, cidr))) return true;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  return !SECOND_LINE[family].check(address, family);
}
