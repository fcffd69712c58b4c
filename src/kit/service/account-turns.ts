/**
 * How many requests of one account and mode run at once in a process, so that one merchant's flood leaves
 * connections and processor to others (decisions/api#fair-share). Further requests wait in their order; what
 * cannot run soon is refused. Test mode has less room, and takes none from live mode.
 */
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
  running: number;
  /** What begins the requests that wait, in their order. */
  waiting: Set<() => void>;
}

export function createAccountTurns(atOnce = AT_ONCE): AccountTurns {
  const accounts = new Map<string, Turns>();
  return {
    run: async ({ accountId, mode }, work) => {
      const key = `${accountId} ${mode}`;
      const turns = accounts.get(key) ?? { running: 0, waiting: new Set() };
      accounts.set(key, turns);
      if (turns.running < atOnce[mode]) turns.running += 1;
      else await nextPlace(turns);
      try {
        return await work();
      } finally {
        leavePlace(turns);
        if (turns.running === 0) accounts.delete(key);
      }
    },
  };
}

/** Waits for the place of a request that ends. */
function nextPlace({ waiting }: Turns): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(begin);
      reject(overloaded());
    }, TURN_WAIT_MS_MAX);
    waiting.add(begin);
  });
}

/** The next request has the place at once, so that none that arrives meanwhile takes it. */
function leavePlace(turns: Turns): void {
  const [next] = turns.waiting;
  if (next === undefined) {
    turns.running -= 1;
    return;
  }
  turns.waiting.delete(next);
  next();
}
