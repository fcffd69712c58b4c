/**
 * The address a request comes from (decision W11), which a key's allowlist is held against.
 *
 * Each trusted proxy appends the address it saw to X-Forwarded-For, so with n of them the n-th
 * entry from the right is the client; what stands left of it the client may have invented.
 */
import { isIP } from 'node:net';

/** An address that cannot be known. It is on no allowlist; a key without one may still be used. */
export const UNKNOWN_ADDRESS = '';

export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string,
  trustedProxyHops: number,
): string {
  const forwarded = forwardedFor === '' ? [] : forwardedFor.split(',');
  const chain = [...forwarded, socketAddress ?? ''].map(normalizeAddress);
  // The client and every proxy between it and us. A hop in there that is no address means that a
  // proxy does not work as configured: falling back on another hop could let a stranger in.
  const trusted = chain.slice(Math.max(0, chain.length - 1 - trustedProxyHops));
  return trusted.includes(UNKNOWN_ADDRESS) ? UNKNOWN_ADDRESS : (trusted[0] ?? UNKNOWN_ADDRESS);
}

/** Without a zone, and IPv4 in its own form also when it arrives mapped into IPv6. */
function normalizeAddress(text: string): string {
  const address = text.trim().replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return UNKNOWN_ADDRESS;
  if (version === 4) return address;
  // URL writes every IPv6 address in one way: lower case, shortest, the last 32 bits in hex.
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
