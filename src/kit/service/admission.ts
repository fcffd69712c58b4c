/**
 * Refuses requests that could not be answered soon (decisions/api#overload). Each request that starts a
 * workflow waits in one queue with the work of the earlier ones, so beyond capacity every answer would be
 * late.
 *
 * A burst is accepted: only when no answer has been prompt for a while are requests refused, and then only
 * those beyond what the last seconds show can be answered in time. What is accepted runs a few at once: in
 * Temporal's queue, later requests can overtake earlier ones.
 *
 * Accounts take turns, live mode before test mode, so that a flood of one waits behind itself. Under a
 * limit each account of live mode has its share of the room, whatever the others send.
 */
import { Semaphore, type SemaphoreInterface, withTimeout } from 'async-mutex';
import { ApiError } from '../../domain/errors';
import type { Mode, Owner } from '../../domain/mode';

/** Requests are refused after this time without a prompt answer. */
const PATIENCE_MS = 3_000;
/** How long the limit stays after the last refusal, or without a prompt answer. */
const HOLD_MS = 15_000;
/** The rate of answers is measured over this time. */
const RATE_MS = 3_000;
/** This many requests are always accepted, because with fewer the rate would not recover. */
const LEAST = 8;
/** The share of test mode in what is accepted while live mode is used too: test mode is refused first. */
const TEST_SHARE = 0.5;
/**
 * What follows a payout costs more than its answer, so an account has no more than this part of what runs
 * at once while another one uses live mode, and all of test mode together half of that.
 */
const ACCOUNT_PART = 0.25;
/** A mode or an account counts as in use for this time after a request. */
const IS_USED_MS = 60_000;
const RETRY_AFTER_S = 2;
/** Accepted work waits at most this long until it runs. */
const WAIT_MS_MAX = 8_000;

export interface Admission {
  /** @throws ApiError service_unavailable with the reason `overloaded` */
  refuseIfLate(of: Owner): void;
  /**
   * Runs accepted work and measures it.
   * @throws ApiError as above, if it could not run soon; what the work throws
   */
  track<T>(of: Owner, work: () => Promise<T>): Promise<T>;
}

export interface AdmissionOptions {
  /** An answer within this time is prompt. */
  promptMs: number;
  /** The number of requests that run at once; null means no limit. */
  atOnce: number | null;
  /** A clock in milliseconds that never goes back. */
  clock?: () => number;
}

/** Added to the priority of live mode; more than the places that a process gives while it runs. */
const LIVE_FIRST = 2 ** 50;

interface AccountUse {
  /** The number of requests that are accepted and not yet answered. */
  running: number;
  lastAt: number;
  /** The place of its last request in the queue. */
  place: number;
  /** The share of the account while another account uses live mode. */
  slots: SemaphoreInterface;
}

export function createAdmission({
  promptMs,
  atOnce,
  clock = () => performance.now(),
}: AdmissionOptions): Admission {
  const limitedTo = (slots: number): SemaphoreInterface =>
    withTimeout(new Semaphore(slots), WAIT_MS_MAX, overloaded());
  const slots = atOnce === null ? null : limitedTo(atOnce);
  const accountSlots = Math.max(1, Math.floor((atOnce ?? 1) * ACCOUNT_PART));
  const testSlots = limitedTo(Math.max(1, Math.floor(accountSlots * TEST_SHARE)));
  const { useOf, countUsing } = createAccountUses(() => limitedTo(accountSlots));
  let running = 0;
  let lastPromptAt = clock();
  let limitedUntil = 0;
  let answeredAt: number[] = [];
  let lastLiveAt = -Infinity;
  /** The place of the work that began last. */
  let placeNow = 0;

  const isBehindLive = (mode: Mode, now: number): boolean =>
    mode === 'test' && now - lastLiveAt < IS_USED_MS;
  const isLimited = (now: number): boolean => {
    if (running === 0) lastPromptAt = now;
    if (now - lastPromptAt > PATIENCE_MS) limitedUntil = now + HOLD_MS;
    return now < limitedUntil;
  };
  /** How many requests can wait so that the last one is still answered in time. */
  const room = (now: number): number => {
    answeredAt = answeredAt.filter((at) => now - at < RATE_MS);
    return Math.max(LEAST, (answeredAt.length * promptMs) / RATE_MS);
  };
  const noteAnswer = (startedAt: number): void => {
    const now = clock();
    answeredAt.push(now);
    if (now - startedAt <= promptMs) lastPromptAt = now;
  };
  const measured = <T>(work: () => Promise<T>, startedAt: number): Promise<T> =>
    work().finally(() => noteAnswer(startedAt));
  /**
   * In its turn among the accounts: the nth request that an account has waiting is in the nth round. What
   * waits for its own account or for live mode is not late: it is measured from then on.
   */
  const inTurn = <T>(of: Owner, work: () => Promise<T>): Promise<T> => {
    if (slots === null) return measured(work, clock());
    const use = useOf(of);
    const place = (use.place = Math.max(placeNow, use.place) + 1);
    const priority = (of.mode === 'live' ? LIVE_FIRST : 0) - place;
    const take = () => {
      const startedAt = clock();
      const begin = () => {
        placeNow = Math.max(placeNow, place);
        return measured(work, startedAt);
      };
      return slots.runExclusive(begin, 1, priority);
    };
    const now = clock();
    if (isBehindLive(of.mode, now)) return testSlots.runExclusive(take, 1, priority);
    return countUsing(of.mode, now) > 1 ? use.slots.runExclusive(take) : take();
  };
  return {
    refuseIfLate: (of) => {
      const now = clock();
      const use = useOf(of);
      use.lastAt = now;
      if (of.mode === 'live') lastLiveAt = now;
      const using = countUsing(of.mode, now);
      if (!isLimited(now)) return;
      const isBehind = isBehindLive(of.mode, now);
      if (running < room(now) * (isBehind ? TEST_SHARE : 1)) return;
      if (!isBehind && use.running < room(now) / using) return;
      limitedUntil = now + HOLD_MS;
      throw overloaded();
    },
    track: async (of, work) => {
      const use = useOf(of);
      running += 1;
      use.running += 1;
      try {
        return await inTurn(of, work);
      } finally {
        running -= 1;
        use.running -= 1;
      }
    },
  };
}

function createAccountUses(newSlots: () => SemaphoreInterface) {
  const accounts: Record<Mode, Map<string, AccountUse>> = { live: new Map(), test: new Map() };
  const useOf = ({ accountId, mode }: Owner): AccountUse => {
    const found = accounts[mode].get(accountId);
    if (found !== undefined) return found;
    const use = { running: 0, lastAt: 0, place: 0, slots: newSlots() };
    accounts[mode].set(accountId, use);
    return use;
  };
  /** How many accounts use the mode at present. Forgets those that no longer use it. */
  const countUsing = (mode: Mode, now: number): number => {
    for (const [id, use] of accounts[mode]) {
      if (use.running === 0 && now - use.lastAt > IS_USED_MS) accounts[mode].delete(id);
    }
    return Math.max(1, accounts[mode].size);
  };
  return { useOf, countUsing };
}

export function overloaded(): ApiError {
  return new ApiError(
    { code: 'service_unavailable', details: { reason: 'overloaded' } },
    { 'Retry-After': String(RETRY_AFTER_S) },
  );
}
