/**
 * A provider's estimates of network fees. Estimates are cached briefly, so that a burst of payouts
 * asks once, and an old estimate is better than refusing the payout. A provider that limits the rate
 * of requests is not asked before the time that it named.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Amount } from '../../domain/money';
import { ZERO } from '../../domain/money';
import type { Mode } from '../../domain/mode';
import { ApiError } from '../../domain/errors';
import { type ChosenRoute, decimalsRefusal } from '../../domain/route';
import type { Limited, ProviderRegistry } from '../../adapters/providers/registry';

export interface NetworkFees {
  /** The fee in the payout's currency, zero if the provider charges none; null if not available. */
  estimate(mode: Mode, route: ChosenRoute, currency: string): Promise<Amount | Limited | null>;
  /** How many decimals an amount can have there; null if the provider has not said so. */
  decimals(place: Place): Promise<number | null>;
}

interface Place {
  mode: Mode;
  provider: string;
  network: string | null;
  currency: string;
}

const FRESH_MS = 30_000;
/** How long a payout waits for a newer estimate when a usable one is at hand. */
const PATIENCE_MS = 250;
/** How long anybody waits for the decimals. Without them the provider's own refusal decides. */
const DECIMALS_PATIENCE_MS = 1_000;
/** Network fees change within minutes; an older estimate would be a guess. */
const USABLE_MS = 10 * 60_000;

interface Known {
  fee: Amount;
  decimals: number | null;
  at: number;
}

/** @throws ApiError validation_failed for an amount that the provider could not move */
export async function checkDecimals(
  networkFees: Pick<NetworkFees, 'decimals'>,
  place: Place & { amount: Amount },
): Promise<void> {
  const refusal = decimalsRefusal(place, await networkFees.decimals(place));
  if (refusal !== null) throw new ApiError(refusal);
}

export function createNetworkFees(providers: ProviderRegistry): NetworkFees {
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<Amount | Limited | null>>();
  /** Providers that answered 429, and until when they asked not to be called. */
  const limits = new Map<string, { until: number; limit: Limited }>();

  /** The provider that knows the fee of a route, and the question for it. */
  function find({ mode, provider: code, network, currency }: Place) {
    const provider = providers.list(mode).find((one) => one.code === code);
    if (network === null || provider?.capabilities.network_fee_estimate !== true) return null;
    const key = `${mode}:${code}:${currency}:${network}`;
    return { key, account: `${mode}:${code}:${network}`, provider, currency, network };
  }

  type Question = NonNullable<ReturnType<typeof find>>;

  /** One call at a time answers everybody who asks the same. */
  function askOnce(question: Question): Promise<Amount | Limited | null> {
    const { key } = question;
    const asked = asking.get(key) ?? ask(question).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  }

  async function ask({ key, account, provider, currency, network }: Question) {
    const { until = 0, limit } = limits.get(account) ?? {};
    const leftMs = until - performance.now();
    if (limit !== undefined && leftMs > 0) return { ...limit, retryAfterMs: leftMs };
    const answer = await provider.estimateNetworkFee(currency, network);
    if (answer.kind === 'limited') {
      limits.set(account, { until: performance.now() + answer.retryAfterMs, limit: answer });
      return answer;
    }
    if (answer.kind === 'unknown') return null;
    const { fee, decimals } = answer;
    known.set(key, { fee, decimals, at: performance.now() });
    return fee;
  }

  return {
    async estimate(mode, route, currency) {
      const question = find({ mode, ...route, currency });
      if (question === null) return ZERO;
      const { key } = question;
      const last = known.get(key);
      const age = last === undefined ? Infinity : performance.now() - last.at;
      if (last !== undefined && age < FRESH_MS) return last.fee;
      const usable = last !== undefined && age < USABLE_MS ? last.fee : null;
      // Somebody already waits for the provider.
      if (usable !== null && asking.has(key)) return usable;
      const asked = askOnce(question);
      if (usable === null) return asked;
      const fee = await Promise.race([asked, after(PATIENCE_MS)]);
      return typeof fee === 'string' ? fee : usable;
    },

    async decimals(place) {
      const question = find(place);
      if (question === null) return null;
      const { key } = question;
      // Decimals do not change, so an answer of any age is good enough.
      if (!known.has(key)) await Promise.race([askOnce(question), after(DECIMALS_PATIENCE_MS)]);
      return known.get(key)?.decimals ?? null;
    },
  };
}

function after(ms: number): Promise<null> {
  return sleep(ms, null, { ref: false });
}
