/** How every test waits for what happens elsewhere: it asks until it gets an answer. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Much longer than anything takes, even on a busy machine: it costs nothing when all is well. It is
 * shorter where tests are meant to fail: test/guards.
 */
export const PATIENCE_MS = Number(process.env['TEST_PATIENCE_MS'] ?? 200_000);
const ASK_EVERY_MS = 50;

type Answer<T> = Exclude<T, undefined | null | false>;

/** Asks until there is an answer: anything but undefined, null and false. */
export function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<Answer<T>> {
  return poll(what, ask, patienceMs, (error) => {
    throw error;
  });
}

/**
 * The same where servers and programs are killed: a question that throws is asked again. A killed
 * worker's activity is given up after 30 s, then retried.
 */
export function waitThroughFaults<T>(
  what: string,
  ask: () => T | Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<Answer<T>> {
  return poll(what, ask, patienceMs, () => undefined);
}

async function poll<T>(
  what: string,
  ask: () => T | Promise<T>,
  patienceMs: number,
  meet: (error: unknown) => void,
): Promise<Answer<T>> {
  const giveUpAt = performance.now() + patienceMs;
  let trouble: unknown;
  while (performance.now() < giveUpAt) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false) return answer as Answer<T>;
    } catch (error) {
      meet(error);
      trouble = error;
    }
    await sleep(ASK_EVERY_MS);
  }
  throw new Error(`waited in vain for ${what}`, { cause: trouble });
}

/** One after the other, in the order of the calls. */
export function createTurns(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const acting = last.then(act);
    last = acting.catch(() => undefined);
    return acting;
  };
}
