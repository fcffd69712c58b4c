/**
 * How many requests of one account and mode run at once in a process, so that one merchant's flood leaves
 * connections and processor to others (decisions/api#fair-share). Further requests wait in their order; what
 * cannot run soon is refused. Test mode has less room, and takes none from live mode.
 */
import { Semaphore, withTimeout, type SemaphoreInterface } from 'async-mutex';
import type { Mode, Owner } from '../../domain/mode';
import { overloaded } from './admission';

/** More than a processor can work on at once, because a payment waits seconds for its provider. */
const AT_ONCE: Readonly<Record<Mode, number>> = { live: 64, test: 16 };
export const TURN_WAIT_MS_MAX = 8_000;

export interface AccountTurns {
  /** @throws ApiError service_unavailable with the reason `overloaded`; what the work throws */
  run<T>(of: Owner, work: () => Promise<T>): Promise<T>;
}

interface Turns {
  slots: SemaphoreInterface;
  /** The number of requests that run or wait. */
  requests: number;
}

export function createAccountTurns(atOnce = AT_ONCE): AccountTurns {
  const accounts = new Map<string, Turns>();
  return {
    run: async ({ accountId, mode }, work) => {
      const key = `${accountId} ${mode}`;
      const turns = accounts.get(key) ?? {
        slots: withTimeout(new Semaphore(atOnce[mode]), TURN_WAIT_MS_MAX, overloaded()),
        requests: 0,
      };
      accounts.set(key, turns);
      turns.requests += 1;
      try {
        return await turns.slots.runExclusive(work);
      } finally {
        turns.requests -= 1;
        if (turns.requests === 0) accounts.delete(key);
      }
    },
  };
}
