/** Where an endpoint's URL leads: its vetted addresses, or the reason why it is not called. */
import { isIP } from 'node:net';
import type { Mode } from '../domain/mode';
import { type AddressRules, isAllowedAddress } from './address-policy';
import { AttemptFailure, blocked } from './attempt-failure';
import { resolveName } from './resolve';
import { bareHost, checkWebhookUrl, type UrlRules } from './url-policy';

export interface TargetRules {
  urls: UrlRules;
  addresses: Record<Mode, AddressRules>;
  dnsServers: readonly string[] | undefined;
  dnsMs: number;
}

export type UrlVerdict = { ok: true } | { ok: false; code: string; message: string };

const THIS_MACHINE = '127.0.0.1';

/** The verdict for an endpoint that is about to be saved. */
export async function checkTarget(
  url: string,
  mode: Mode,
  rules: TargetRules,
  deadline: AbortSignal,
): Promise<UrlVerdict> {
  const refusal = checkWebhookUrl(url, mode, rules.urls);
  if (refusal !== null) return { ok: false, ...refusal };
  try {
    await vetAddresses(bareHost(new URL(url)), mode, rules, deadline);
    return { ok: true };
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

/** One address that is not allowed refuses them all: the name is not one to be trusted. */
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
  // The URL was checked, so such a name is an endpoint of test mode in development.
  if (rules.urls.allowedHosts.includes(host)) return [THIS_MACHINE];
  return resolveName(host, rules, deadline);
}
