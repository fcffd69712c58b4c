/** IP addresses and ranges of them (CIDRs) as bytes, so that the notation of an address does not matter. */
import { isIP } from 'node:net';

/** A range of addresses: the bytes of its first one, and the bits that all of them share. */
export interface Cidr {
  bytes: Uint8Array;
  prefixBits: number;
}

/** The 4 or 16 bytes of an address without a zone; null for any other text. */
export function addressBytes(text: string): Uint8Array | null {
  // Node accepts `fe80::1%eth0`; a zone names a local network interface.
  if (text.includes('%')) return null;
  const family = isIP(text);
  if (family === 0) return null;
  return family === 4 ? ipv4Bytes(text) : ipv6Bytes(text);
}

/** @throws Error for an invalid CIDR, or one with bits set after its prefix */
export function parseCidr(text: string): Cidr {
  const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const bytes = addressBytes(address);
  const prefixBits = parseInt(prefix, 10);
  if (bytes === null || prefixBits > bytes.length * 8) {
    throw new Error(`"${text}" is not a CIDR such as 10.0.0.0/8 or fd00::/8`);
  }
  if (!bytes.every((byte, index) => (byte & ~maskByte(prefixBits, index)) === 0)) {
    throw new Error(
      `"${text}" has bits set after its prefix; write the first address of the range`,
    );
  }
  return { bytes, prefixBits };
}

/** Whether the address is in the range. An IPv4 address is in no IPv6 range. */
export function isInside(address: Uint8Array, { bytes, prefixBits }: Cidr): boolean {
  return (
    address.length === bytes.length &&
    address.every((byte, index) => (byte & maskByte(prefixBits, index)) === bytes[index])
  );
}

/** The bits of one byte that belong to the prefix. */
function maskByte(prefixBits: number, index: number): number {
  const bits = Math.min(8, Math.max(0, prefixBits - index * 8));
  return (0xff << (8 - bits)) & 0xff;
}

function ipv4Bytes(text: string): Uint8Array {
  return Uint8Array.from(text.split('.'), (part) => parseInt(part, 10));
}

/** @param text a valid IPv6 address */
function ipv6Bytes(text: string): Uint8Array {
  const dotted = /[^:]+\.[^:]+$/.exec(text)?.[0];
  const tail = dotted === undefined ? [] : [...ipv4Bytes(dotted)];
  const groups = dotted === undefined ? text : text.slice(0, -dotted.length);
  const [head = '', rest] = groups.split('::');
  const before = groupBytes(head);
  const after = rest === undefined ? tail : [...groupBytes(rest), ...tail];
  const zeros = Array<number>(16 - before.length - after.length).fill(0);
  return Uint8Array.from([...before, ...zeros, ...after]);
}

function groupBytes(groups: string): number[] {
  return groups
    .split(':')
    .filter((group) => group !== '')
    .flatMap((group) => {
      const value = parseInt(group, 16);
      return [value >> 8, value & 0xff];
    });
}
