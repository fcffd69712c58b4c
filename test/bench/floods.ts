/**
 * `npm run bench -- --overload`: one merchant floods the API, and another one creates live payouts beside
 * it. The goal: the other one's p95 stays within twice its value without a flood, and none is refused.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { createKey, createMerchant, fund } from '../support/merchant/merchant';
import { buildPayout, randomKey } from '../support/merchant/merchant-client';
import { openLoop, percentile } from './load';
import type { Setting } from './row';

const MEASURE_MS = { full: 120_000, quick: 30_000 };
/** Before it is measured: the burst at the begin of a flood is part of it. */
const PAUSE_MS = 3_000;
const PER_SECOND = 4;
const FUNDS = '1000000000';

interface Flood {
  name: string;
  keys: readonly string[];
  connections: number;
}

/** @returns a table in Markdown */
export async function measureFloods({ isQuick, log }: Setting): Promise<string> {
  const ms = MEASURE_MS[isQuick ? 'quick' : 'full'];
  const gateway = await startGateway({ sandbox: { settleMs: 50 } });
  const { db, pepper } = gateway;
  await db.query('UPDATE payout_policies SET daily_max = NULL');
  const [flooding, other] = [await createMerchant(db, pepper), await createMerchant(db, pepper)];
  for (const { accountId } of [flooding, other]) {
    await fund(db, accountId, 'live', 'USDT', FUNDS);
    await fund(db, accountId, 'test', 'USDT', FUNDS);
  }
  const { accountId } = flooding;
  const makeKeys = (count: number, mode: 'live' | 'test') =>
    Promise.all(Array.from({ length: count }, () => createKey(db, pepper, { accountId, mode })));
  const floods: Flood[] = [
    { name: 'none', keys: [], connections: 0 },
    { name: 'one test key, 200 connections', keys: [flooding.testKey], connections: 200 },
    {
      name: 'sixty test keys, 200 connections',
      keys: await makeKeys(60, 'test'),
      connections: 200,
    },
    { name: 'eight live keys, 200 connections', keys: await makeKeys(8, 'live'), connections: 200 },
  ];
  const lines: string[] = [];
  for (const flood of floods) {
    const end = new AbortController();
    const load = sendFlood(gateway, flood, end.signal);
    const pool = new Pool(new URL(gateway.baseUrl).origin);
    const { latenciesMs, refused } = await openLoop(PER_SECOND, ms, async () => {
      const status = await postPayout(pool, other.liveKey);
      if (status !== 201 && status !== 503) throw new Error(`POST /payouts: ${status}`);
      return status === 201;
    });
    end.abort();
    const flooded = await load;
    await pool.destroy();
    await sleep(PAUSE_MS);
    const at = [0.5, 0.95, 0.99].map((part) => percentile(latenciesMs, part).toFixed(0));
    const cells = [flood.name, ...at, String(refused), flooded];
    log(`flood: ${cells.join(', ')}`);
    lines.push(`| ${cells.join(' | ')} |`);
  }
  await gateway.stop();
  return [
    '| Flood of another merchant | p50 ms | p95 ms | p99 ms | Refused | Answers to the flood |',
    '| --- | ---: | ---: | ---: | ---: | --- |',
    ...lines,
  ].join('\n');
}

/** Sends as fast as the answers come, and waits for nothing that they say. */
async function sendFlood(
  gateway: OwnGateway,
  { keys, connections }: Flood,
  signal: AbortSignal,
): Promise<string> {
  const pool = new Pool(new URL(gateway.baseUrl).origin);
  const counts = new Map<number, number>();
  const client = async (n: number): Promise<void> => {
    while (!signal.aborted) {
      const status = await postPayout(pool, keys[n % keys.length] ?? '');
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, n) => client(n)));
  await pool.destroy();
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}

async function postPayout(pool: Pool, key: string): Promise<number> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/v1/payouts',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'idempotency-key': randomKey(),
    },
    body: JSON.stringify(buildPayout()),
  });
  await body.dump();
  return statusCode;
}
