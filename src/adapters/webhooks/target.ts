/**
 * Resolves an endpoint's URL to its allowed addresses. Names are resolved for each attempt and never
 * cached.
 *
 * It does not use `dns.lookup`, which runs on four threads shared by the whole process: one dead name
 * server would block them for everybody. Each attempt has its own resolver, which can be cancelled.
 */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Mode } from '../../domain/mode';
import { type AddressRules, isAllowedAddress } from './address-policy';
import { type AttemptErrorCode, AttemptFailure, blocked, codeOf } from './attempt-result';
import { bareHost, checkWebhookUrl, type UrlRefusal, type UrlRules } from './url-policy';

export interface TargetRules {
  urls: UrlRules;
  addresses: Record<Mode, AddressRules>;
  dnsServers: readonly string[] | undefined;
  dnsMs: number;
}

/** `url` has the form that was checked, which is the form to save. */
export type UrlVerdict =
  | { ok: true; url: string }
  | { ok: false; code: UrlRefusal['code'] | AttemptErrorCode; message: string };

const LOOPBACK = '127.0.0.1';
const DNS_TRIES = 2;
/** No receiver needs more addresses, and the sender may call each of them. */
const ADDRESSES_MAX = 16;
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);

/** Checks the URL of an endpoint before it is saved. */
export async function checkTarget(
  url: string,
  mode: Mode,
  rules: TargetRules,
  deadline: AbortSignal,
): Promise<UrlVerdict> {
  const refusal = checkWebhookUrl(url, mode, rules.urls);
  if (refusal !== null) return { ok: false, ...refusal };
  try {
    const checked = new URL(url);
    await vetAddresses(bareHost(checked), mode, rules, deadline);
    return { ok: true, url: checked.href };
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    return { ok: false, code: error.code, message: error.message };
  }
}

/** @throws AttemptFailure `url_blocked` or `dns_error` */
export async function findTarget(
  url: string,
  mode: Mode,
  rules: TargetRules,
  deadline: AbortSignal,
): Promise<{ url: URL; addresses: string[] }> {
  const refusal = checkWebhookUrl(url, mode, rules.urls);
  if (refusal !== null) throw new AttemptFailure('url_blocked', refusal.message);
  const parsed = new URL(url);
  return { url: parsed, addresses: await vetAddresses(bareHost(parsed), mode, rules, deadline) };
}

/** A single forbidden address blocks the attempt, because the name cannot be trusted. */
async function vetAddresses(
  host: string,
  mode: Mode,
  rules: TargetRules,
  deadline: AbortSignal,
): Promise<string[]> {
  const addresses = await addressesOf(host, rules, deadline);
  if (addresses.every((address) => isAllowedAddress(address, rules.addresses[mode]))) {
    return addresses;
  }
  throw blocked();
}

async function addressesOf(
  host: string,
  rules: TargetRules,
  deadline: AbortSignal,
): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  // The URL is already checked, so this is an endpoint of test mode in development.
  if (rules.urls.allowedHosts.includes(host)) return [LOOPBACK];
  return resolveName(host, rules, deadline);
}

/** @throws AttemptFailure `dns_error` */
async function resolveName(
  name: string,
  { dnsServers, dnsMs }: TargetRules,
  deadline: AbortSignal,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: Math.ceil(dnsMs / DNS_TRIES), tries: DNS_TRIES });
  if (dnsServers !== undefined) resolver.setServers(dnsServers);
  const cancel = (): void => resolver.cancel();
  const timer = setTimeout(cancel, dnsMs);
  deadline.addEventListener('abort', cancel, { once: true });
  try {
    return readAnswers(
      name,
      await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]),
    );
  } finally {
    clearTimeout(timer);
    deadline.removeEventListener('abort', cancel);
  }
}

/**
 * The addresses of both families. An answer for one is enough: unresolved addresses are not called, and
 * some name servers never answer AAAA queries.
 */
function readAnswers(name: string, answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  if (addresses.length > ADDRESSES_MAX) {
    throw dnsFailure(`The name ${name} has more than ${ADDRESSES_MAX} addresses.`);
  }
  if (addresses.length > 0) return addresses;
  const codes = answers.map((answer) =>
    answer.status === 'rejected' ? codeOf(answer.reason) : '',
  );
  if (codes.every((code) => code === '' || NO_SUCH_NAME.has(code))) {
    throw dnsFailure(`The name ${name} does not resolve to an address.`);
  }
  if (codes.some((code) => ['ETIMEOUT', 'ECANCELLED'].includes(code))) {
    throw dnsFailure(`The name servers of ${name} did not answer in time.`);
  }
  throw dnsFailure(`The name ${name} could not be resolved (${codes.join(', ')}).`);
}

function dnsFailure(sentence: string): AttemptFailure {
  return new AttemptFailure('dns_error', sentence);
}
