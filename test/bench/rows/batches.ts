/** What a large batch costs those who have none: memory of the processes, and the latency of single payouts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type OwnGateway } from '../../support/servers/gateway';
import { createMerchant, fund } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import { openLoop, percentile } from '../load';
import { findProcesses, residentMb } from '../processes';
import type { Measured, Row } from '../row';

const ROWS = { full: 10_000, quick: 1_000 };
/** The heaps grow with their first work, whatever it is. */
const WARM_UP_ROWS = { full: 1_000, quick: 200 };
const USUAL_MS = { full: 40_000, quick: 10_000 };
/** From the request on. */
const MEANWHILE_MS = { full: 60_000, quick: 15_000 };
const SINGLE_PER_SECOND = 5;
const REST_MS = 5_000;
const LOOK_EVERY_MS = 200;
const FUNDS = '1000000000';

export const BATCH_ROW: Row = {
  name: 'batch',
  description: 'a batch of 10,000 rows (--quick: 1,000), and single payouts of another merchant',
  needsTemporal: true,
  figures: [
    { name: 's to accept', limit: { atMost: 10 } },
    { name: 'api MB more', limit: { atMost: 100 } },
    { name: 'worker MB more', limit: { atMost: 100 } },
    { name: 'usual p95 ms' },
    { name: 'p95 while accepted', limit: { atMost: 1.5 } },
    { name: 'p95 while sent', limit: { atMost: 1.5 } },
  ],
  rounds: 1,
  prepare: async ({ isQuick, log }) => {
    const scale = isQuick ? 'quick' : 'full';
    const gateway = await startGateway({ sandbox: { settleMs: 50 } });
    const { db, pepper } = gateway;
    await db.query('UPDATE payout_policies SET daily_max = NULL');
    const [many, single] = [await createMerchant(db, pepper), await createMerchant(db, pepper)];
    for (const { accountId } of [many, single]) {
      await fund(db, accountId, 'test', 'USDT', FUNDS);
    }
    const batches = new MerchantClient(gateway.baseUrl, many.testKey);
    const singles = new MerchantClient(gateway.baseUrl, single.testKey);
    return {
      gateway: {
        measure: async (): Promise<Measured> => {
          await whenClosed(batches, await createBatch(batches, WARM_UP_ROWS[scale]));
          const usual = (await sendSingles(singles, USUAL_MS[scale], () => 'usual')).get('usual');
          await sleep(REST_MS);
          log('batch: the batch is sent');
          const memory = await watchMemory(gateway);
          const start = performance.now();
          let acceptedMs = NaN;
          const [found] = await Promise.all([
            sendSingles(singles, MEANWHILE_MS[scale], () =>
              Number.isNaN(acceptedMs) ? 'accepted' : 'sent',
            ),
            createBatch(batches, ROWS[scale]).then(() => {
              acceptedMs = performance.now() - start;
            }),
          ]).finally(memory.stop);
          const more = memory.more();
          const usualMs = p95(usual);
          return {
            's to accept': acceptedMs / 1_000,
            'api MB more': more.api,
            'worker MB more': more.worker,
            'usual p95 ms': usualMs,
            'p95 while accepted': p95(found.get('accepted')) / usualMs,
            'p95 while sent': p95(found.get('sent')) / usualMs,
          };
        },
      },
      bare: null,
      stop: gateway.stop,
    };
  },
};

/** @returns its id */
async function createBatch(client: MerchantClient, rows: number): Promise<string> {
  const payouts = Array.from({ length: rows }, () => buildPayout());
  const { status, json, text } = await client.post(
    '/payout_batches',
    { reference: randomKey(), payouts },
    { 'idempotency-key': randomKey() },
  );
  if (status !== 201) throw new Error(`POST /payout_batches: ${status} ${text.slice(0, 200)}`);
  return json.data.id;
}

async function whenClosed(client: MerchantClient, id: string): Promise<void> {
  for (;;) {
    const { json } = await client.get(`/payout_batches/${id}`);
    if (json.data.closed_at !== null) return;
    await sleep(1_000);
  }
}

/** @returns the latencies by what went on at the start of each, sorted */
async function sendSingles(
  client: MerchantClient,
  ms: number,
  meanwhile: () => string,
): Promise<Map<string, number[]>> {
  const latencies = new Map<string, number[]>();
  await openLoop(SINGLE_PER_SECOND, ms, async () => {
    const what = meanwhile();
    const start = performance.now();
    const { status, text } = await client.createPayout(buildPayout());
    if (status !== 201) throw new Error(`POST /payouts: ${status} ${text}`);
    latencies.set(what, [...(latencies.get(what) ?? []), performance.now() - start]);
    return true;
  });
  for (const one of latencies.values()) one.sort((a, b) => a - b);
  return latencies;
}

function p95(latencies: readonly number[] = []): number {
  return percentile(latencies, 0.95);
}

interface MemoryWatch {
  /** Before the processes end. */
  stop: () => void;
  /** The most memory that the processes took above what they had at first. */
  more: () => Record<'api' | 'worker', number>;
}

async function watchMemory(gateway: OwnGateway): Promise<MemoryWatch> {
  const { api, worker } = await findProcesses(gateway);
  const look = () => ({ api: residentMb(api), worker: residentMb(worker) });
  const before = look();
  const most = { ...before };
  const timer = setInterval(() => {
    const now = look();
    most.api = Math.max(most.api, now.api);
    most.worker = Math.max(most.worker, now.worker);
  }, LOOK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
    },
    more: () => ({ api: most.api - before.api, worker: most.worker - before.worker }),
  };
}
