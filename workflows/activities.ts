/**
 * The calls of activities by workflows: typed proxies, the shared retry policies, and one guard.
 */
import {
  type ActivityOptions,
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import { UNREADABLE } from './payload-converter';

type Name = keyof Activities;

/** One short transaction, retried until it succeeds: no payout or payment is lost. */
export const TRANSACTION = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 ms', maximumInterval: '10 seconds' },
} as const;

/** With `matching.useNewMatcher`, Temporal serves the lower key of a queue first; 3 is the default. */
export const PRIORITY = { aMerchantWaits: { priorityKey: 1 }, poll: { priorityKey: 5 } } as const;

/**
 * A provider's timeout or refusal is a return value, so only the gateway's database throws. The timeout
 * allows two calls to the provider. Without a heartbeat the worker is dead, and another one goes on.
 */
export const PROVIDER_CALL = {
  startToCloseTimeout: '30 seconds',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '500 ms', maximumInterval: '30 seconds' },
} as const;

/** A fast call; the process limits the time that the provider has (activities/local-calls.ts). */
export const LOCAL_PROVIDER_CALL = { startToCloseTimeout: '8 seconds' } as const;

interface LocalFirst {
  summary: string;
  /** Null when the call has to be made in the task queue. */
  local: LocalActivityOptions | null;
  /** Is called only before the regular activity. */
  regular: () => ActivityOptions;
}

/**
 * Makes a call as a local activity, and after a failure as a regular one, with retries
 * (decisions/workflows#provider-calls).
 */
export async function localFirst<T>(
  call: (steps: Activities) => Promise<T>,
  { summary, local, regular }: LocalFirst,
): Promise<T> {
  if (local !== null) {
    try {
      return await call(
        localActivities<Name>({ ...local, retry: { maximumAttempts: 1 }, summary }),
      );
    } catch (error) {
      // A local activity fails with its own failure, without an ActivityFailure around it.
      if (!(error instanceof TemporalFailure)) throw error;
    }
  }
  return call(activities<Name>({ ...regular(), summary }));
}

export function activities<N extends Name>(options: ActivityOptions) {
  return guarded(proxyActivities<Pick<Activities, N>>(options));
}

export function localActivities<N extends Name>(options: LocalActivityOptions) {
  return guarded(proxyLocalActivities<Pick<Activities, N>>(options));
}

/**
 * A result that cannot be decoded fails the workflow task until a worker can decode it. Only
 * operators' input may be undecodable (operator-input.ts).
 */
export function guarded<T extends object>(proxy: T): T {
  return new Proxy(proxy, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        const result = await call(...args);
        if (result === UNREADABLE) throw new Error(`cannot decode the result of ${String(name)}`);
        return result;
      };
    },
  });
}
