/** POST /payouts to 201: at rest, and while what 32 clients make is processed and delivered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startBareFlows, startGatewayFlows, type Flows } from '../flows';
import { openLoop, percentile, RETRY_AFTER_MS } from '../load';
import { startCountingReceiver } from '../receiver';
import type { Measured, Row } from '../row';

/** At rest: one ends long before the next begins. */
const AT_REST_PER_SECOND = 4;
const CLIENTS = 32;
/** After this time of load, what the clients made is approved, submitted and delivered beside them. */
const RAMP_MS = 15_000;

export const CREATE_ROWS: readonly Row[] = [
  {
    name: 'create-latency',
    description: 'POST /payouts at rest; an update-with-start and one transaction of the same rows',
    needsTemporal: true,
    figures: [{ name: 'p50 ms', ratio: { atMost: 1.25 } }, { name: 'p95 ms' }],
    prepare: async () => {
      const [gateway, bare] = await Promise.all([startGatewayFlows(), startBareFlows()]);
      const sideOf = (flows: Flows) => ({ measure: (ms: number) => createAtRest(flows, ms) });
      return {
        gateway: sideOf(gateway),
        bare: sideOf(bare),
        stop: async () => {
          await Promise.all([gateway.stop(), bare.stop()]);
        },
      };
    },
  },
  {
    name: 'create-load',
    description:
      '32 clients, and everything is processed and delivered to one endpoint; no endpoint',
    needsTemporal: true,
    figures: [
      { name: 'payouts/s', ratio: { atLeast: 0.8 } },
      { name: 'p50 ms' },
      { name: 'p95 ms' },
      { name: 'p95 / p50', limit: { atMost: 3 } },
      { name: 'refused' },
    ],
    prepare: async () => {
      const receiver = await startCountingReceiver();
      const bare = await startGatewayFlows({ isReviewed: false });
      const { gateway: shared } = bare;
      const gateway = await startGatewayFlows({
        gateway: shared,
        isReviewed: false,
        endpoints: [receiver.url],
      });
      const sideOf = (flows: Flows) => ({
        measure: (ms: number) => createUnderLoad(flows, ms, whenIdle),
      });
      return {
        gateway: sideOf(gateway),
        bare: sideOf(bare),
        stop: async () => {
          await gateway.stop();
          await bare.stop();
          await receiver.stop();
        },
      };
    },
  },
];

async function createAtRest(flows: Flows, ms: number): Promise<Measured> {
  const create = async () => (await flows.create('payout')) !== null;
  const { latenciesMs } = await openLoop(AT_REST_PER_SECOND, ms, create);
  return { 'p50 ms': percentile(latenciesMs, 0.5), 'p95 ms': percentile(latenciesMs, 0.95) };
}

/**
 * A client sends the next request after the answer. Answers of the first 15 seconds are not counted.
 * The side ends when all work is done.
 */
export async function createUnderLoad<Side extends Pick<Flows, 'create'>>(
  flows: Side,
  ms: number,
  whenDone: (flows: Side) => Promise<void>,
): Promise<Measured> {
  const latenciesMs: number[] = [];
  let refused = 0;
  const start = performance.now() + RAMP_MS;
  const end = start + ms;
  const client = async (): Promise<void> => {
    for (;;) {
      const begun = performance.now();
      if (begun >= end) return;
      const id = await flows.create('payout');
      const now = performance.now();
      if (now >= start && now < end) {
        if (id === null) refused += 1;
        else latenciesMs.push(now - begun);
      }
      if (id === null) await sleep(RETRY_AFTER_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await whenDone(flows);
  latenciesMs.sort((a, b) => a - b);
  const [p50, p95] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.95)];
  return {
    'payouts/s': latenciesMs.length / (ms / 1_000),
    'p50 ms': p50,
    'p95 ms': p95,
    'p95 / p50': p95 / p50,
    refused,
  };
}

/** Resolves when no payout and no delivery is open. */
export async function whenIdle({ db }: Flows): Promise<void> {
  for (;;) {
    const [open] = await db.query<{ is: boolean }>(
      `SELECT EXISTS (SELECT FROM payouts WHERE status_group = 'open')
           OR EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AS is`,
    );
    if (open?.is !== true) return;
    await sleep(200);
  }
}
