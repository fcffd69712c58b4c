/**
 * How many passwords and codes may be tried. No limit lets a stranger lock somebody out: a browser in
 * which the user signed in before has a budget of its own, and so does every network for one email
 * address. An email address that many networks try at once is slowed down, and not for the networks
 * that its user signs in from.
 */
import { isIP } from 'node:net';
import {
  type Attempt,
  type AttemptCounts,
  deleteAttempt,
  deleteOldAttempts,
  isKnownNetwork,
  recordAttempt,
} from '../../db/people/authentication-attempts';
import type { Db } from '../../db/transaction';

const WINDOW_MINUTES = 15;
/** Failures of one email address from one network, or in one known browser. */
export const FAILURES_OF_PAIR_MAX = 5;
const FAILURES_OF_NETWORK_MAX = 50;
/** Failures of one email address from all networks; above it, one more is allowed in each period. */
export const FAILURES_OF_EMAIL_MAX = 20;
/**
 * A code has six digits, and three are valid at a time: one attempt in five minutes finds one within
 * a day with a chance below 0.1 %.
 */
const SLOW_SECONDS = { password: 10, code: 300 } as const satisfies Record<Attempt['step'], number>;

export type Checked<T> =
  { kind: 'passed'; value: T } | { kind: 'refused' } | { kind: 'limited'; minutes: number };

/**
 * @param check null if it is wrong. If it throws, nothing was tried.
 * @param slow false for what cannot be guessed
 */
export async function limitAttempts<T>(
  db: Db,
  who: Omit<Attempt, 'address'> & { address: string },
  check: () => Promise<T | null>,
  { slow = true }: { slow?: boolean } = {},
): Promise<Checked<T>> {
  const attempt = { ...who, address: knownAddress(who.address) };
  const window = { minutes: WINDOW_MINUTES, seconds: SLOW_SECONDS[who.step] };
  const counts = await recordAttempt(db, attempt, window);
  try {
    if (await isLimited(db, attempt, counts, slow)) {
      // It was not checked, so it does not prolong the wait.
      await deleteAttempt(db, counts.id);
      return { kind: 'limited', minutes: WINDOW_MINUTES };
    }
    const value = await check();
    if (value === null) return { kind: 'refused' };
    await deleteAttempt(db, counts.id);
    await deleteOldAttempts(db, WINDOW_MINUTES);
    return { kind: 'passed', value };
  } catch (error) {
    await deleteAttempt(db, counts.id);
    throw error;
  }
}

async function isLimited(
  db: Db,
  attempt: Attempt,
  counts: AttemptCounts,
  slow: boolean,
): Promise<boolean> {
  if (attempt.device !== null) return counts.ofDevice > FAILURES_OF_PAIR_MAX;
  if (counts.ofPair > FAILURES_OF_PAIR_MAX || counts.ofNetwork > FAILURES_OF_NETWORK_MAX) {
    return true;
  }
  const isSlow = slow && counts.ofEmail > FAILURES_OF_EMAIL_MAX && counts.ofEmailJustNow > 1;
  return isSlow && !(await isKnownNetwork(db, attempt));
}

export function knownAddress(address: string): string | null {
  return isIP(address) === 0 ? null : address;
}
