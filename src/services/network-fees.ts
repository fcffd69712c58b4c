/**
 * A provider's estimates of network fees. Estimates are cached briefly, so that a burst of payouts
 * asks once, and an old estimate is better than refusing the payout. A provider that limits the rate
 * of requests is not asked before the time that it named.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Amount } from '../domain/money';
import { ZERO } from '../domain/money';
import type { Mode } from '../domain/mode';
import type { ChosenRoute } from '../domain/route';
import type { Limited, ProviderRegistry } from '../providers/registry';

export interface NetworkFees {
  /** The fee in the payout's currency, zero if the provider charges none; null: not available. */
  estimate(mode: Mode, route: ChosenRoute, currency: string): Promise<Amount | Limited | null>;
}

const FRESH_MS = 30_000;
/** How long a payout waits for a newer estimate when a usable one is at hand. */
const PATIENCE_MS = 250;
/** Network fees change within minutes; an older estimate would be a guess. */
const USABLE_MS = 10 * 60_000;

interface Known {
  fee: Amount;
  at: number;
}

export function createNetworkFees(providers: ProviderRegistry): NetworkFees {
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<Amount | Limited | null>>();
  /** Providers that answered 429, and until when they asked not to be called. */
  const limits = new Map<string, { until: number; limit: Limited }>();

  async function ask(key: string, mode: Mode, code: string, currency: string, network: string) {
    const provider = providers.list(mode).find((one) => one.code === code);
    if (provider === undefined) return null;
    const account = `${mode}:${code}`;
    const { until = 0, limit } = limits.get(account) ?? {};
    const leftMs = until - performance.now();
    if (limit !== undefined && leftMs > 0) return { ...limit, retryAfterMs: leftMs };
    const answer = await provider.estimateNetworkFee(currency, network);
    if (answer.kind === 'limited') {
      limits.set(account, { until: performance.now() + answer.retryAfterMs, limit: answer });
      return answer;
    }
    if (answer.kind === 'unknown') return null;
    known.set(key, { fee: answer.fee, at: performance.now() });
    return answer.fee;
  }

  return {
    async estimate(mode, { provider: code, network }, currency) {
      const provider = providers.list(mode).find((one) => one.code === code);
      if (network === null || provider?.capabilities.network_fee_estimate !== true) return ZERO;
      const key = `${mode}:${code}:${currency}:${network}`;
      const last = known.get(key);
      const age = last === undefined ? Infinity : performance.now() - last.at;
      if (last !== undefined && age < FRESH_MS) return last.fee;
      const usable = last !== undefined && age < USABLE_MS ? last.fee : null;
      const running = asking.get(key);
      // Somebody already waits for the provider.
      if (running !== undefined && usable !== null) return usable;
      const asked =
        running ?? ask(key, mode, code, currency, network).finally(() => asking.delete(key));
      asking.set(key, asked);
      if (usable === null) return asked;
      const fee = await Promise.race([asked, afterPatience()]);
      return typeof fee === 'string' ? fee : usable;
    },
  };
}

function afterPatience(): Promise<null> {
  return sleep(PATIENCE_MS, null, { ref: false });
}
