/** Waits for slow recoveries: a killed worker's activity is given up after 30 s, then retried. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Much longer than anything takes, even on a busy machine: it costs nothing when all is well. Shorter
 * where tests are meant to fail: test/guards.
 */
export const PATIENCE_MS = Number(process.env['TEST_PATIENCE_MS'] ?? 120_000);
const ASK_EVERY_MS = 100;

/**
 * Asks until the answer is not undefined. A question that throws is asked again: in these tests
 * whoever answers may just have been killed.
 */
export async function waitLong<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const giveUpAt = Date.now() + patienceMs;
  let trouble: unknown;
  while (Date.now() < giveUpAt) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      trouble = error;
    }
    await sleep(ASK_EVERY_MS);
  }
  throw new Error(`waited in vain for ${what}`, { cause: trouble });
}
