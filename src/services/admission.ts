/**
 * Refuses requests that could not be answered soon (decision W15). Each request that starts a workflow
 * waits in one queue with the work of the earlier ones, so beyond capacity every answer would be late.
 *
 * A burst is accepted: only when no answer has been prompt for a while are requests refused, and then
 * only those beyond what the last seconds show can be answered in time.
 */
import { ApiError } from '../domain/errors';
import type { Mode } from '../domain/mode';

/** So long may no answer be prompt before requests are refused. */
const PATIENCE_MS = 3_000;
/** How long the limit stays after the last refusal, or without a prompt answer. */
const HOLD_MS = 5_000;
/** The rate of answers is that of this time. */
const RATE_MS = 3_000;
/** Accepted in any case: with fewer, the rate would not recover. */
const LEAST = 8;
/** Test mode is refused first: its share of what is accepted. */
const TEST_SHARE = 0.5;
const RETRY_AFTER_S = 2;

export interface Admission {
  /** @throws ApiError service_unavailable with the reason `overloaded` */
  refuseIfLate(mode: Mode): void;
  /** Runs accepted work and measures it. */
  track<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * @param promptMs an answer within this time is prompt
 * @param clock milliseconds that never go back
 */
export function createAdmission(
  promptMs: number,
  clock: () => number = () => performance.now(),
): Admission {
  let running = 0;
  let lastPromptAt = clock();
  let limitedUntil = 0;
  let answeredAt: number[] = [];

  const isLimited = (now: number): boolean => {
    if (running === 0) lastPromptAt = now;
    if (now - lastPromptAt > PATIENCE_MS) limitedUntil = now + HOLD_MS;
    return now < limitedUntil;
  };
  /** How many can wait so that the last one is answered in time. */
  const room = (now: number): number => {
    answeredAt = answeredAt.filter((at) => now - at < RATE_MS);
    return Math.max(LEAST, (answeredAt.length * promptMs) / RATE_MS);
  };
  return {
    refuseIfLate: (mode) => {
      const now = clock();
      if (!isLimited(now)) return;
      if (running < room(now) * (mode === 'test' ? TEST_SHARE : 1)) return;
      limitedUntil = now + HOLD_MS;
      throw new ApiError(
        { code: 'service_unavailable', details: { reason: 'overloaded' } },
        { 'Retry-After': String(RETRY_AFTER_S) },
      );
    },
    track: async (work) => {
      const startedAt = clock();
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        const now = clock();
        answeredAt.push(now);
        if (now - startedAt <= promptMs) lastPromptAt = now;
      }
    },
  };
}
