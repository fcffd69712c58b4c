/**
 * Passwords: argon2id with 19 MiB and two passes, as OWASP recommends. A run takes some 60 ms of a
 * core, so only a few run at once and only a few wait: a flood of sign-ins is refused instead of
 * stalling the API in the same process.
 */
import { hash, verify } from '@node-rs/argon2';

/** argon2id is the library's default algorithm. */
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

const RUNS_MAX = 2;
const WAITING_MAX = 32;

/** The sign-in is refused, and its password was not checked. */
export class TooManySignIns extends Error {}

/** Of a password that nobody has. An unknown email address costs as much as a wrong password. */
let nobody: Promise<string> | undefined;

/** Waits for its turn: the callers limit how many they send. */
export async function hashPassword(password: string): Promise<string> {
  await takeTurn(Infinity);
  try {
    return await hash(password, PARAMETERS);
  } finally {
    endTurn();
  }
}

/**
 * @param stored null if there is no user; the check then takes as long and fails
 * @throws TooManySignIns
 */
export async function checkPassword(stored: string | null, password: string): Promise<boolean> {
  await takeTurn(WAITING_MAX);
  try {
    nobody ??= hash('no user has this password', PARAMETERS);
    const matches = await verify(stored ?? (await nobody), password);
    return stored !== null && matches;
  } finally {
    endTurn();
  }
}

let running = 0;
const waiting: (() => void)[] = [];

/** @throws TooManySignIns */
async function takeTurn(waitingMax: number): Promise<void> {
  if (running < RUNS_MAX) {
    running++;
    return;
  }
  if (waiting.length >= waitingMax) throw new TooManySignIns();
  // The one who ends hands its turn over.
  await new Promise<void>((resolve) => waiting.push(resolve));
}

function endTurn(): void {
  const next = waiting.shift();
  if (next === undefined) running--;
  else next();
}
