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

/** One text for the ways in which keyboards and systems send the same characters (NIST SP 800-63B). */
export function normalPassword(typed: string): string {
  return typed.normalize('NFKC');
}

/** Waits for its turn: the callers limit how many they send. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(Infinity, () => hash(password, PARAMETERS));
}

/**
 * Hashes of before are of the text as the browser sent it, which macOS decomposes: those forms are tried too, as one
 * attempt. A password of ASCII characters has one form.
 * @param stored null if there is no user; the check then takes as long and fails
 * @throws TooManySignIns
 */
export function checkPassword(stored: string | null, typed: string): Promise<boolean> {
  const forms = new Set([
    normalPassword(typed),
    typed,
    typed.normalize('NFC'),
    typed.normalize('NFD'),
  ]);
  return inTurn(WAITING_MAX, async () => {
    nobody ??= hash('no user has this password', PARAMETERS);
    const compared = stored ?? (await nobody);
    for (const form of forms) {
      if (await verify(compared, form)) return stored !== null;
    }
    return false;
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
