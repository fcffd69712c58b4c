/**
 * Sends webhooks: the one door through which the gateway calls an address that a merchant chose
 * (decisions H1, H3, H9). Activities send with it, services check a URL with it before they save it.
 */
import type { Mode } from '../domain/mode';
import { readAddressRules } from './address-policy';
import { type AttemptRules, runAttempt, type WebhookRequest } from './attempt';
import type { AttemptResult } from './attempt-result';
import type { Deadline } from './exchange';
import { checkTarget, type UrlVerdict } from './target';

export type { AttemptResult } from './attempt-result';

export interface SenderSettings {
  /** WEBHOOK_ALLOW_CIDRS: addresses that are allowed although they are not public, in any mode. */
  allowCidrs: readonly string[];
  /** WEBHOOK_DENY_CIDRS: addresses that are refused although they are public. They win. */
  denyCidrs: readonly string[];
  /** The gateway's own host names in lower case, which no endpoint may have. */
  ownHosts: readonly string[];
  /** Development only (decision H10): what endpoints of test mode may use besides. */
  testMode?: {
    /** Names such as `localhost`. They are not resolved but taken to be 127.0.0.1. */
    allowedHosts: readonly string[];
    allowCidrs: readonly string[];
  };
  /** `address:port` of name servers to ask instead of the machine's. */
  dnsServers?: readonly string[];
  /** PEM of certificate authorities to trust besides those that Node brings. */
  extraCa?: readonly string[];
  limits?: Partial<SenderLimits>;
}

export interface SenderLimits {
  /** From the start of name resolution to the end of the response headers. */
  deadlineMs: number;
  /** The part of it that name resolution may take. */
  dnsMs: number;
  /** After the headers, for the part of the body that is kept. */
  bodyMs: number;
}

export const DEFAULT_LIMITS: SenderLimits = { deadlineMs: 10_000, dnsMs: 3_000, bodyMs: 2_000 };

export interface WebhookSender {
  /** At save time: checks the URL, resolves its name and vets every address that it has. */
  check: (url: string, mode: Mode) => Promise<UrlVerdict>;
  /**
   * One attempt. What the network does comes back as a value.
   * @throws Error when the sender is closed before an answer came: nothing is known of the receiver
   */
  send: (request: WebhookRequest) => Promise<AttemptResult>;
  /** Ends what is under way and takes nothing new. */
  close: () => Promise<void>;
}

/** @throws Error that names a CIDR that is none */
export function createWebhookSender(settings: SenderSettings): WebhookSender {
  const limits = { ...DEFAULT_LIMITS, ...settings.limits };
  const rules = readRules(settings, limits);
  const underWay = new Map<AbortController, Promise<unknown>>();
  let closed = false;

  async function withDeadline<T>(work: (deadline: Deadline) => Promise<T>): Promise<T> {
    refuseWhenClosed(closed);
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), limits.deadlineMs);
    const stop = (): void => clearTimeout(timer);
    const run = work({ signal: controller.signal, stop });
    underWay.set(controller, run);
    try {
      return await run;
    } finally {
      stop();
      underWay.delete(controller);
    }
  }

  return {
    check: async (url, mode) => {
      const verdict = await withDeadline(({ signal }) => checkTarget(url, mode, rules, signal));
      if (!verdict.ok) refuseWhenClosed(closed);
      return verdict;
    },
    send: async (request) => {
      const result = await withDeadline((deadline) => runAttempt(request, rules, deadline));
      if (result.status === null) refuseWhenClosed(closed);
      return result;
    },
    close: async () => {
      closed = true;
      for (const controller of underWay.keys()) controller.abort();
      await Promise.allSettled(underWay.values());
    },
  };
}

/** Our own end must not be told as the receiver's silence. */
function refuseWhenClosed(closed: boolean): void {
  if (closed) throw new Error('The webhook sender is closed.');
}

function readRules(settings: SenderSettings, limits: SenderLimits): AttemptRules {
  const { allowCidrs, denyCidrs, ownHosts, testMode, dnsServers, extraCa } = settings;
  return {
    urls: { ownHosts, allowedHosts: testMode?.allowedHosts ?? [] },
    addresses: {
      live: readAddressRules(allowCidrs, denyCidrs),
      test: readAddressRules([...allowCidrs, ...(testMode?.allowCidrs ?? [])], denyCidrs),
    },
    dnsServers,
    extraCa,
    dnsMs: limits.dnsMs,
    bodyMs: limits.bodyMs,
  };
}
