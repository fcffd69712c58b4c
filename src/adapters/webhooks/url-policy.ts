/**
 * The URLs that an endpoint may have (decisions/webhooks#webhook-targets). Pure; target.ts checks the host's
 * addresses. The rules are applied when an endpoint is saved and again at every attempt, because they
 * may become stricter.
 */
import { isIP } from 'node:net';
import type { Mode } from '../../domain/mode';

export interface UrlRules {
  /** The gateway's own host names. */
  ownHosts: readonly string[];
  /** Names that are exempt from the host name rule; development only (decisions/tools#development). */
  allowedHosts: readonly string[];
}

export interface UrlRefusal {
  code:
    | 'url_characters'
    | 'url_malformed'
    | 'url_scheme'
    | 'url_credentials'
    | 'url_fragment'
    | 'url_host_form'
    | 'url_host_name'
    | 'url_port';
  message: string;
}

const URL_LENGTH_MAX = 2048;
/** Domains of the local machine or network, and domains that never resolve. */
const CLOSED_DOMAINS = ['localhost', 'local', 'internal', 'arpa', 'test', 'invalid', 'onion'];
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const NAME_LENGTH_MAX = 253;
/** The Fetch standard's bad ports from 1024: HTTP can confuse the services that use them. */
const BAD_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
];

const MALFORMED = refusal('url_malformed', 'The URL must look like https://example.com/webhooks.');

/** The first rule that the URL violates, or null. */
export function checkWebhookUrl(raw: string, mode: Mode, rules: UrlRules): UrlRefusal | null {
  // `new URL` drops tabs and converts backslashes to slashes, so the raw text is checked first.
  if (raw.length > URL_LENGTH_MAX || !/^[\x21-\x5b\x5d-\x7e]+$/.test(raw) || raw.includes('%00')) {
    return refusal(
      'url_characters',
      'The URL must consist of 1 to 2048 printable ASCII characters, without spaces or backslashes. ' +
        'Write an international domain name in punycode (xn--…).',
    );
  }
  const [, scheme = '', authority = '', rest = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(raw) ?? [];
  if (scheme === '') return MALFORMED;
  return (
    checkScheme(scheme.toLowerCase(), mode) ??
    (authority.includes('@')
      ? refusal('url_credentials', 'The URL must not contain a user name or password.')
      : null) ??
    (rest.includes('#')
      ? refusal('url_fragment', 'The URL must not contain a fragment (#…).')
      : null) ??
    checkHostAndPort(raw, authority.toLowerCase(), mode, rules)
  );
}

/** The host without the brackets of an IPv6 address. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function checkScheme(scheme: string, mode: Mode): UrlRefusal | null {
  if (scheme === 'https' || (scheme === 'http' && mode === 'test')) return null;
  const allowed = mode === 'live' ? 'https:// in live mode' : 'https:// or http://';
  return refusal('url_scheme', `The URL must start with ${allowed}.`);
}

function checkHostAndPort(
  raw: string,
  authority: string,
  mode: Mode,
  rules: UrlRules,
): UrlRefusal | null {
  const [, host] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority) ?? [];
  if (host === undefined || host === '') return MALFORMED;
  const url = URL.canParse(raw) ? new URL(raw) : null;
  // 127.1, 2130706433 and 0x7f.1 are notations of an address that other checks may not recognise.
  if (url?.hostname !== host) {
    return refusal(
      'url_host_form',
      'The host must be a domain name or an IP address in standard notation.',
    );
  }
  return checkName(bareHost(url), mode, rules) ?? checkPort(url, mode);
}

function checkName(host: string, mode: Mode, rules: UrlRules): UrlRefusal | null {
  if (isIP(host) !== 0) return null;
  if (mode === 'test' && rules.allowedHosts.includes(host)) return null;
  const labels = host.split('.');
  const isPublicName =
    labels.length >= 2 &&
    host.length <= NAME_LENGTH_MAX &&
    labels.every((label) => LABEL.test(label)) &&
    !CLOSED_DOMAINS.includes(labels.at(-1) ?? '') &&
    !rules.ownHosts.includes(host);
  if (isPublicName) return null;
  return refusal(
    'url_host_name',
    'The host must be a public domain name such as example.com, and not the gateway’s own.',
  );
}

function checkPort(url: URL, mode: Mode): UrlRefusal | null {
  const port = portOf(url);
  const isWellKnown = port === 443 || (port === 80 && mode === 'test');
  if (isWellKnown || (port >= 1024 && !BAD_PORTS.includes(port))) return null;
  return refusal(
    'url_port',
    `The port must be 443${mode === 'test' ? ', 80' : ''} or a port from 1024 that is not reserved ` +
      'for another protocol.',
  );
}

/** The port of a URL, explicit or by default. */
export function portOf(url: URL): number {
  if (url.port !== '') return parseInt(url.port, 10);
  return url.protocol === 'https:' ? 443 : 80;
}

function refusal(code: UrlRefusal['code'], message: string): UrlRefusal {
  return { code, message };
}
