/**
 * Protects servers of development, which listen on this machine and ask for no login, from the websites
 * that a developer visits: from a website's name that leads to this machine (DNS rebinding), and from
 * forms of other sites.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/**
 * Whether a Host header names this machine: an address, localhost, or the host of `publicUrl`. Only
 * a name can be pointed at another machine.
 */
export function isOwnHost(host: string | undefined, publicUrl: string | null): boolean {
  const hostname = URL.parse(`http://${host ?? ''}`)?.hostname ?? '';
  return (
    isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === URL.parse(publicUrl ?? '')?.hostname
  );
}

/** Whether a browser sends the request for another site. Programs send neither header. */
export function isFromOtherSite(headers: IncomingHttpHeaders, publicUrl: string | null): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site !== 'same-origin' && site !== 'none';
  if (headers.origin === undefined) return false;
  const origin = URL.parse(headers.origin);
  const isOwn =
    origin?.host === headers.host || origin?.origin === URL.parse(publicUrl ?? '')?.origin;
  return origin === null || !isOwn;
}
