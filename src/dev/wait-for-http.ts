/**
 * Waits until a part of the gateway says over HTTP that it is well.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../lib/setup-error';

const ATTEMPT_TIMEOUT_MS = 2_000;

/** @throws SetupError with the last answer when it is not 200 within the time */
export async function waitForHttp(url: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last = 'no answer';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) });
      const body = await response.text();
      if (response.status === 200) return;
      last = `${response.status} ${body.slice(0, 300)}`;
    } catch (error) {
      last = error instanceof Error ? error.message : 'no answer';
    }
    await sleep(50);
  }
  throw new SetupError(`${url} is not well after ${timeoutMs / 1000} s: ${last}`);
}
