/**
 * Sends webhooks: the only way the gateway calls a URL that a merchant chose (decisions/webhooks#webhook-bodies,
 * decisions/webhooks#webhook-attempts and decisions/webhooks#webhook-targets). Activities send with it, and services check a
 * URL with it before they save it.
 */
import type { Mode } from '../../domain/mode';
import { readAddressRules } from './address-policy';
import { type AttemptRules, runAttempt, type WebhookRequest } from './attempt';
import type { AttemptResult } from './attempt-result';
import type { Deadline } from './exchange';
import { checkTarget, type UrlVerdict } from './target';

export type { AttemptResult } from './attempt-result';

export interface SenderSettings {
  /** WEBHOOK_LIVE_ALLOW_CIDRS: private addresses that are allowed in any mode. */
  allowCidrs: readonly string[];
  /** WEBHOOK_DENY_CIDRS: public addresses that are forbidden. Takes precedence. */
  denyCidrs: readonly string[];
  /** The gateway's own host names in lower case, which endpoints must not use. */
  ownHosts: readonly string[];
  /**
   * Additional permissions for endpoints of test mode, in development only (decisions/tools#development).
   */
  testMode?: {
    /** Names such as `localhost`, which are not resolved but mapped to 127.0.0.1. */
    allowedHosts: readonly string[];
    allowCidrs: readonly string[];
  };
  /** `address:port` of the name servers to use instead of the system's. */
  dnsServers?: readonly string[];
  /** Certificate authorities (PEM) to trust in addition to Node's. */
  extraCa?: readonly string[];
  limits?: Partial<SenderLimits>;
}

export interface SenderLimits {
  /** The time from the start of name resolution to the end of the response headers. */
  deadlineMs: number;
  /** Limit for name resolution, within the deadline. */
  dnsMs: number;
  /** Limit for the stored part of the body, after the headers. */
  bodyMs: number;
}

export const DEFAULT_LIMITS: SenderLimits = { deadlineMs: 10_000, dnsMs: 3_000, bodyMs: 2_000 };

export interface WebhookSender {
  /** Checks a URL before it is saved: its form, and every address of its name. */
  check: (url: string, mode: Mode) => Promise<UrlVerdict>;
  /**
   * Makes one attempt. Network failures are returned, not thrown.
   * @throws Error if the sender is closed before a response: the receiver's result is unknown
   */
  send: (request: WebhookRequest) => Promise<AttemptResult>;
  /** Aborts running attempts and refuses new ones. */
  close: () => Promise<void>;
}

/** @throws Error that names an invalid CIDR */
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

/** Throws during a shutdown, which must not be recorded as a failure of the receiver. */
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
