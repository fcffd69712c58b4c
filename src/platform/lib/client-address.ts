/**
 * The client's address of a request (decisions/api#client-address), which is checked against a key's allowlist.
 *
 * Each trusted proxy appends the address it saw to X-Forwarded-For, so with n proxies the n-th
 * entry from the right is the client. The client can forge the entries left of it.
 */
import { isIP } from 'node:net';

/** An unknown address. No allowlist contains it; a key without an allowlist still works. */
export const UNKNOWN_ADDRESS = '';

/** The client's address, or UNKNOWN_ADDRESS. */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string,
  trustedProxyHops: number,
): string {
  const forwarded = forwardedFor === '' ? [] : forwardedFor.split(',');
  const chain = [...forwarded, socketAddress ?? ''].map(normalizeAddress);
  // These are the client and every proxy. A hop that is not an address means that a proxy is
  // misconfigured: using another hop instead could let a stranger in.
  const trusted = chain.slice(Math.max(0, chain.length - 1 - trustedProxyHops));
  return trusted.includes(UNKNOWN_ADDRESS) ? UNKNOWN_ADDRESS : (trusted[0] ?? UNKNOWN_ADDRESS);
}

/** Removes the zone, and turns an IPv4-mapped IPv6 address into IPv4. */
function normalizeAddress(text: string): string {
  const address = text.trim().replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return UNKNOWN_ADDRESS;
  if (version === 4) return address;
  // A socket that accepts both families shows an IPv4 client in this form.
  const shown = /^::ffff:([0-9]+(?:\.[0-9]+){3})$/i.exec(address)?.[1];
  if (shown !== undefined) return shown;
  // URL normalizes IPv6 addresses: lower case, shortest form, the last 32 bits in hex.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return canonical;
  const bytes = Buffer.from(
    mapped
      .slice(1)
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
  return [...bytes].join('.');
}
