/**
 * `npm run bench -- --overload`: latency and refused requests below and above the capacity. Payouts are
 * approved automatically and every event is delivered to one endpoint.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startGatewayFlows, type Flows } from './flows';
import { measureFloods } from './floods';
import { openLoop, percentile } from './load';
import { startCountingReceiver } from './receiver';
import type { Setting } from './row';
import { createUnderLoad, whenIdle } from './rows/creates';

const CAPACITY_MS = { full: 60_000, quick: 8_000 };
const MEASURE_MS = { full: 600_000, quick: 20_000 };
const PARTS_OF_CAPACITY = [0.5, 0.8, 1.2];
/** The number of events of a payout. */
const EVENTS = 4;
/** Ten at 4 a second, as a merchant would notice the end of an overload. */
const RECOVERED_AFTER = 10;
const RECOVERED_MS = 500;

/** @returns a table in Markdown */
export async function measureOverload(setting: Setting): Promise<string> {
  const floods = await measureFloods(setting);
  return `${floods}\n\n${await measureCapacityParts(setting)}`;
}

async function measureCapacityParts({ isQuick, log }: Setting): Promise<string> {
  const length = isQuick ? 'quick' : 'full';
  const receiver = await startCountingReceiver();
  const flows = await startGatewayFlows({ isReviewed: false, endpoints: [receiver.url] });
  const capacity = await measureCapacity(flows, CAPACITY_MS[length]);
  log(`overload: the capacity is ${capacity.toFixed(1)} payouts/s`);
  const lines: string[] = [];
  for (const part of PARTS_OF_CAPACITY) {
    const { latenciesMs, refused } = await openLoop(
      capacity * part,
      MEASURE_MS[length],
      async () => (await flows.create('payout')) !== null,
    );
    const open = await countOpen(flows);
    const recoveryS = await recover(flows);
    await whenIdle(flows);
    const at = [0.5, 0.95, 0.99, 0.999].map((one) => percentile(latenciesMs, one).toFixed(0));
    const refusedPart = (100 * refused) / (refused + latenciesMs.length);
    const cells = [
      `${part * 100} %`,
      (capacity * part).toFixed(1),
      ...at,
      `${refused} (${refusedPart.toFixed(1)} %)`,
      String(open),
      recoveryS.toFixed(1),
    ];
    log(`overload: ${cells.join(', ')}`);
    lines.push(`| ${cells.join(' | ')} |`);
  }
  await flows.stop();
  await receiver.stop();
  return [
    '| Of the capacity | Payouts/s | p50 ms | p95 ms | p99 ms | p99.9 ms | Refused | Open at the end | Recovery s |',
    '| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
  ].join('\n');
}

/** Payouts that are completed with all their deliveries, in the second part of a closed loop. */
async function measureCapacity(flows: Flows, ms: number): Promise<number> {
  const load = createUnderLoad(flows, 1.5 * ms, whenIdle);
  await sleep(ms / 2);
  const before = await countDone(flows);
  await sleep(ms);
  const done = (await countDone(flows)) - before;
  await load;
  return (done * 1_000) / ms;
}

async function countDone({ db }: Flows): Promise<number> {
  const [done] = await db.query<{ n: number }>(
    `SELECT least((SELECT count(*) FROM payouts WHERE status = 'completed'),
                  (SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded')
                    / ${EVENTS})::int AS n`,
  );
  return done?.n ?? 0;
}

/** Seconds until requests are accepted and answered quickly again. */
async function recover(flows: Flows): Promise<number> {
  const start = performance.now();
  let end = start;
  for (let quick = 0; quick < RECOVERED_AFTER;) {
    const begun = performance.now();
    const id = await flows.create('payout');
    if (id === null || performance.now() - begun > RECOVERED_MS) {
      quick = 0;
      end = performance.now();
    } else quick += 1;
    await sleep(250);
  }
  return (end - start) / 1_000;
}

async function countOpen({ db }: Flows): Promise<number> {
  const [open] = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM payouts WHERE status_group = 'open'`,
  );
  return open?.n ?? 0;
}
