/** The load of the benchmark: a closed loop for capacity, an open loop for latency. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** A client waits this long after 503 with Retry-After. */
export const RETRY_AFTER_MS = 1_000;

export interface Request {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface ClosedLoop {
  origin: string;
  /** Kept alive; each has one request at a time. */
  connections: number;
  ms: number;
  /** @param n counts the requests, from 0 */
  request: (n: number) => Request;
}

/**
 * @returns requests a second
 * @throws Error for an answer that is not 2xx: it would be cheaper than the work to measure
 */
export async function closedLoop({
  origin,
  connections,
  ms,
  request,
}: ClosedLoop): Promise<number> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  try {
    return await clients(connections, ms, async (n) => {
      const { method = 'GET', ...options } = request(n);
      const { statusCode, body } = await pool.request({ method, ...options });
      if (statusCode >= 300) throw new Error(`${options.path}: ${statusCode} ${await body.text()}`);
      await body.dump();
    });
  } finally {
    await pool.destroy();
  }
}

/**
 * Each client does the next piece of work when its last one is done.
 * @param work n counts the pieces of all clients, from 0
 * @returns pieces a second
 */
export async function clients(
  count: number,
  ms: number,
  work: (n: number) => Promise<void>,
): Promise<number> {
  const start = performance.now();
  let begun = 0;
  let done = 0;
  const client = async () => {
    while (performance.now() - start < ms) {
      await work(begun++);
      done++;
    }
  };
  await Promise.all(Array.from({ length: count }, client));
  return (done * 1_000) / (performance.now() - start);
}

export interface OpenLoopResult {
  /** From the scheduled time to the answer, sorted. */
  latenciesMs: number[];
  refused: number;
}

/**
 * Sends at fixed times, however long the answers take, so that a slow answer does not keep later requests
 * from being late too (no coordinated omission).
 * @param send false: the request was refused
 */
export async function openLoop(
  perSecond: number,
  ms: number,
  send: (n: number) => Promise<boolean>,
): Promise<OpenLoopResult> {
  const result: OpenLoopResult = { latenciesMs: [], refused: 0 };
  const start = performance.now();
  const running: Promise<void>[] = [];
  for (let n = 0; n < (perSecond * ms) / 1_000; n++) {
    const dueMs = start + (n * 1_000) / perSecond;
    const early = dueMs - performance.now();
    if (early > 0) await sleep(early);
    running.push(
      send(n).then((accepted) => {
        if (accepted) result.latenciesMs.push(performance.now() - dueMs);
        else result.refused++;
      }),
    );
  }
  await Promise.all(running);
  result.latenciesMs.sort((a, b) => a - b);
  return result;
}

/** @param sorted ascending, not empty */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}
