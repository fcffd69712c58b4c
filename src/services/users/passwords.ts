/**
 * Passwords: argon2id with 19 MiB and two passes, as OWASP recommends. A run takes some 60 ms of a
 * core, so only a few run at once and only a few wait: a flood of sign-ins is refused instead of
 * stalling the API in the same process.
 */
import { hash, verify } from '@node-rs/argon2';
import { Semaphore } from 'async-mutex';

/** argon2id is the library's default algorithm. */
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

const RUNS_MAX = 2;
const WAITING_MAX = 32;

/** The sign-in is refused, and its password was not checked. */
export class TooManySignIns extends Error {}

/** The hash of a password that nobody has. An unknown email address costs as much as a wrong password. */
let nobody: Promise<string> | undefined;

/** Waits for its turn: the callers limit how many they send. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(Infinity, () => hash(password, PARAMETERS));
}

/**
 * @param stored null if there is no user; the check then takes as long and fails
 * @throws TooManySignIns
 */
export function checkPassword(stored: string | null, password: string): Promise<boolean> {
  return inTurn(WAITING_MAX, async () => {
    nobody ??= hash('no user has this password', PARAMETERS);
    const matches = await verify(stored ?? (await nobody), password);
    return stored !== null && matches;
  });
}

const turns = new Semaphore(RUNS_MAX);
let waiting = 0;

/** @throws TooManySignIns */
async function inTurn<T>(waitingMax: number, run: () => Promise<T>): Promise<T> {
  const waits = turns.isLocked();
  if (waits && waiting >= waitingMax) throw new TooManySignIns();
  if (waits) waiting++;
  return turns.runExclusive(() => {
    if (waits) waiting--;
    return run();
  });
}
