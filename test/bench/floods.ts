/**
 * `npm run bench -- --overload`: one merchant floods the API, and another one creates live payouts and reads its
 * balance beside it. The goal: the other one's p95 stays within twice its value without a flood, and none is refused.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { insertCompletedPayouts } from '../support/merchant/large-ledger';
import { createKey, createMerchant, fund } from '../support/merchant/merchant';
import { buildPayout, randomKey } from '../support/merchant/merchant-client';
import { buildPayment } from '../support/payment/payment-steps';
import { openLoop, percentile, type Request } from './load';
import type { Setting } from './row';
import { endSchedules, storeSchedules, storeWaitingPayouts, watchStored } from './stored-floods';

const MEASURE_MS = { full: 120_000, quick: 15_000 };
/** Before it is measured: the burst at the begin of a flood is part of it. */
const PAUSE_MS = 3_000;
const PAYOUTS_PER_SECOND = 4;
const READS_PER_SECOND = 10;
const FUNDS = '1000000000';
const EXPORTED_PAYOUTS = { full: 50_000, quick: 10_000 };

interface Flood {
  name: string;
  store?: () => Promise<void>;
  /** @returns the last cell of its line */
  run: (signal: AbortSignal) => Promise<string>;
}

/** @returns a table in Markdown */
export async function measureFloods({ isQuick, log }: Setting): Promise<string> {
  const length = isQuick ? 'quick' : 'full';
  const gateway = await startGateway({ sandbox: { settleMs: 50 } });
  const { db, pepper } = gateway;
  await db.query('UPDATE payout_policies SET daily_max = NULL');
  const [flooding, other] = [await createMerchant(db, pepper), await createMerchant(db, pepper)];
  const poor = await createMerchant(db, pepper);
  for (const { accountId } of [flooding, other]) {
    await fund(db, accountId, 'live', 'USDT', FUNDS);
    await fund(db, accountId, 'test', 'USDT', FUNDS);
  }
  const { accountId } = flooding;
  const makeKeys = (count: number, mode: 'live' | 'test') =>
    Promise.all(Array.from({ length: count }, () => createKey(db, pepper, { accountId, mode })));
  const key = { accountId, mode: 'live', currency: 'USDT', apiKeyId: 'key_bench' } as const;
  const count = EXPORTED_PAYOUTS[length];
  await insertCompletedPayouts(db, { ...key, first: 0, count }, { isNoted: false });
  const { testKey, liveKey } = flooding;
  const sixty = await makeKeys(60, 'test');
  const eight = await makeKeys(8, 'live');
  const paymentId = await createPayment(gateway, testKey);
  const { origin } = new URL(gateway.baseUrl);
  /** @param request n is the number of the connection */
  const requests = (connections: number, request: (n: number) => Request) => ({
    run: (signal: AbortSignal) => sendFlood(origin, connections, request, signal),
  });
  const stored = { run: () => watchStored(gateway, other) };
  const floods: Flood[] = [
    { name: 'none', ...stored },
    { name: 'one test key, 200 connections', ...requests(200, () => payout(testKey)) },
    {
      name: 'sixty test keys, 200 connections',
      ...requests(200, (n) => payout(sixty[n % sixty.length])),
    },
    {
      name: 'eight live keys, 200 connections',
      ...requests(200, (n) => payout(eight[n % eight.length])),
    },
    {
      name: 'eight dry runs of 6 MB',
      ...requests(8, () => post('/payout_batches', testKey, DRY_RUN)),
    },
    {
      name: 'three lists of millions of values',
      ...requests(3, () => post('/reconciliations', testKey, CROWD)),
    },
    {
      name: 'bodies that look like secrets, sixty keys',
      ...requests(60, (n) => post('/payouts', sixty[n % sixty.length], SECRETS[n % 2] ?? '')),
    },
    {
      name: 'sixteen exports',
      ...requests(16, () => ({
        path: '/api/v1/exports?kind=transactions',
        headers: bearer(liveKey),
      })),
    },
    {
      name: 'a payment cancelled by twenty',
      ...requests(20, () => post(`/payments/${paymentId}/cancel`, testKey, '')),
    },
    {
      name: '300 schedules of 100 rows without a balance',
      store: () => storeSchedules(gateway, poor),
      ...stored,
    },
    {
      name: '200,000 waiting payouts',
      store: async () => {
        await endSchedules(gateway);
        await storeWaitingPayouts(gateway, flooding);
      },
      ...stored,
    },
  ];
  const lines: string[] = [];
  for (const flood of floods) {
    const cells = await measureFlood(gateway, flood, other.liveKey, MEASURE_MS[length]);
    await sleep(PAUSE_MS);
    log(`flood: ${cells.join(', ')}`);
    lines.push(`| ${cells.join(' | ')} |`);
  }
  await gateway.stop();
  return [
    '| Flood of another merchant | GET /balance p50 ms | p95 ms | POST /payouts p50 ms | p95 ms | p99 ms | Refused | What came of it |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...lines,
  ].join('\n');
}

async function measureFlood(
  { baseUrl }: OwnGateway,
  flood: Flood,
  key: string,
  ms: number,
): Promise<string[]> {
  const { origin } = new URL(baseUrl);
  await flood.store?.();
  const end = new AbortController();
  const load = flood.run(end.signal);
  const pool = new Pool(origin);
  const accepted = async (request: Request): Promise<boolean> => {
    const status = await send(pool, request);
    if (status >= 300 && status !== 503) throw new Error(`${request.path}: ${status}`);
    return status < 300;
  };
  const [reads, payouts] = await Promise.all([
    openLoop(READS_PER_SECOND, ms, () =>
      accepted({ path: '/api/v1/balance', headers: bearer(key) }),
    ),
    openLoop(PAYOUTS_PER_SECOND, ms, () => accepted(payout(key))),
  ]);
  end.abort();
  const flooded = await load;
  await pool.destroy();
  const at = (latenciesMs: number[], parts: number[]) =>
    parts.map((part) => percentile(latenciesMs, part).toFixed(0));
  return [
    flood.name,
    ...at(reads.latenciesMs, [0.5, 0.95]),
    ...at(payouts.latenciesMs, [0.5, 0.95, 0.99]),
    String(reads.refused + payouts.refused),
    flooded,
  ];
}

/** Sends as fast as the answers come, and waits for nothing that they say. */
async function sendFlood(
  origin: string,
  connections: number,
  request: (n: number) => Request,
  signal: AbortSignal,
): Promise<string> {
  const pool = new Pool(origin);
  const counts = new Map<number, number>();
  const client = async (n: number): Promise<void> => {
    while (!signal.aborted) {
      const status = await send(pool, request(n));
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, n) => client(n)));
  await pool.destroy();
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}

async function send(pool: Pool, { method = 'GET', ...request }: Request): Promise<number> {
  const { statusCode, body } = await pool.request({ method, ...request });
  await body.dump({ limit: Infinity });
  return statusCode;
}

async function createPayment({ baseUrl }: OwnGateway, key: string): Promise<string> {
  const { path, ...options } = post('/payments', key, JSON.stringify(buildPayment()));
  const answer = await fetch(new URL(path, baseUrl), options);
  return ((await answer.json()) as { data: { id: string } }).data.id;
}

function bearer(key: string | undefined): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function post(path: string, key: string | undefined, body: string): Request {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomKey() };
  return { method: 'POST', path: `/api/v1${path}`, headers: { ...bearer(key), ...headers }, body };
}

function payout(key: string | undefined): Request {
  return post('/payouts', key, JSON.stringify(buildPayout()));
}

/** The longest batch that is accepted. */
const DRY_RUN = JSON.stringify({
  reference: 'flood',
  dry_run: true,
  payouts: Array.from({ length: 10_000 }, (_, n) => ({
    ...buildPayout({ reference: `flood-${n}` }),
    description: 'x'.repeat(250),
  })),
});
const CROWD = `{"rows":[${'1,'.repeat(4_000_000)}1]}`;
const SECRETS = ['seed', 'pwd.'].map((part) =>
  JSON.stringify({ description: `?${part.repeat(1_000)}` }),
);
