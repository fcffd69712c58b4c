/**
 * Refuses requests that could not be answered soon (decision W15). Each request that starts a workflow
 * waits in one queue with the work of the earlier ones, so beyond capacity every answer would be late.
 *
 * A burst is accepted: only when no answer has been prompt for a while are requests refused, and then
 * only those beyond what the last seconds show can be answered in time. What is accepted runs in its
 * order, a few at once: in Temporal's queue, later requests can overtake earlier ones.
 */
import { Semaphore, withTimeout } from 'async-mutex';
import { ApiError } from '../domain/errors';
import type { Mode } from '../domain/mode';

/** So long may no answer be prompt before requests are refused. */
const PATIENCE_MS = 3_000;
/** How long the limit stays after the last refusal, or without a prompt answer. */
const HOLD_MS = 15_000;
/** The rate of answers is that of this time. */
const RATE_MS = 3_000;
/** Accepted in any case: with fewer, the rate would not recover. */
const LEAST = 8;
/** Test mode is refused first: its share of what is accepted while live mode is used too. */
const TEST_SHARE = 0.5;
const LIVE_IS_USED_MS = 60_000;
const RETRY_AFTER_S = 2;
/** So long may accepted work wait until it runs. */
const WAIT_MS_MAX = 8_000;

export interface Admission {
  /** @throws ApiError service_unavailable with the reason `overloaded` */
  refuseIfLate(mode: Mode): void;
  /**
   * Runs accepted work and measures it.
   * @throws ApiError as above, if it could not run soon; what the work throws
   */
  track<T>(work: () => Promise<T>): Promise<T>;
}

export interface AdmissionOptions {
  /** An answer within this time is prompt. */
  promptMs: number;
  /** So much work runs at once; null: all. */
  atOnce: number | null;
  /** Milliseconds that never go back. */
  clock?: () => number;
}

export function createAdmission({
  promptMs,
  atOnce,
  clock = () => performance.now(),
}: AdmissionOptions): Admission {
  const slots =
    atOnce === null ? null : withTimeout(new Semaphore(atOnce), WAIT_MS_MAX, overloaded());
  let running = 0;
  let lastPromptAt = clock();
  let limitedUntil = 0;
  let answeredAt: number[] = [];
  let lastLiveAt = -Infinity;

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
  const noteAnswer = (startedAt: number): void => {
    const now = clock();
    answeredAt.push(now);
    if (now - startedAt <= promptMs) lastPromptAt = now;
  };
  return {
    refuseIfLate: (mode) => {
      const now = clock();
      if (mode === 'live') lastLiveAt = now;
      if (!isLimited(now)) return;
      const isBehindLive = mode === 'test' && now - lastLiveAt < LIVE_IS_USED_MS;
      if (running < room(now) * (isBehindLive ? TEST_SHARE : 1)) return;
      limitedUntil = now + HOLD_MS;
      throw overloaded();
    },
    track: async (work) => {
      const startedAt = clock();
      running += 1;
      try {
        const measured = () => work().finally(() => noteAnswer(startedAt));
        return await (slots === null ? measured() : slots.runExclusive(measured));
      } finally {
        running -= 1;
      }
    },
  };
}

function overloaded(): ApiError {
  return new ApiError(
    { code: 'service_unavailable', details: { reason: 'overloaded' } },
    { 'Retry-After': String(RETRY_AFTER_S) },
  );
}
