/** What payouts cost: time of the processors, and memory while they wait for their review. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Flows, runLifecycles, startBareFlows, startGatewayFlows } from '../flows';
import { findProcesses, processorMs, residentMb } from '../processes';
import type { Measured, Row, Side } from '../row';

const UNDER_REVIEW = { full: 10_000, quick: 1_000 };
const CLIENTS = 16;
/** Until the memory of ended requests is free again. */
const REST_MS = 10_000;
/** A worker's heaps grow with its first work, whatever it keeps. */
const WARM_UP_MS = 20_000;

export const RESOURCE_ROWS: readonly Row[] = [
  {
    name: 'memory',
    description: 'a worker with 10,000 payouts under review (--quick: 1,000); the same with none',
    needsTemporal: true,
    figures: [{ name: 'MB more', limit: { atMost: 150 } }, { name: 'MB with none' }],
    rounds: 1,
    prepare: async ({ isQuick, log }) => {
      const flows = await startGatewayFlows();
      const { worker } = await findProcesses(flows.gateway);
      return {
        gateway: {
          measure: async (): Promise<Measured> => {
            await runLifecycles(flows, 'payout', WARM_UP_MS);
            await sleep(REST_MS);
            const before = residentMb(worker);
            let left = isQuick ? UNDER_REVIEW.quick : UNDER_REVIEW.full;
            const client = async (): Promise<void> => {
              while (left > 0) {
                left -= 1;
                if (left % 1_000 === 0) log(`memory: ${left} payouts left`);
                while ((await flows.create('payout')) === null) await sleep(1_000);
              }
            };
            await Promise.all(Array.from({ length: CLIENTS }, client));
            await sleep(REST_MS);
            return { 'MB more': residentMb(worker) - before, 'MB with none': before };
          },
        },
        bare: null,
        stop: flows.stop,
      };
    },
  },
  {
    name: 'cpu',
    description:
      'core-milliseconds for each payout from POST to completed; the leanest workflow with the same steps',
    needsTemporal: true,
    figures: [
      { name: 'api ms' },
      { name: 'worker ms', limit: { atMost: 25 } },
      { name: 'api and worker ms' },
      { name: 'Temporal ms', limit: { atMost: 35 } },
      { name: 'PostgreSQL ms' },
    ],
    prepare: async () => {
      const [flows, bareFlows] = await Promise.all([startGatewayFlows(), startBareFlows()]);
      const { api, worker, ...servers } = await findProcesses(flows.gateway);
      return {
        gateway: sideOf(flows, {
          'api ms': [api],
          'worker ms': [worker],
          'api and worker ms': [api, worker],
          ...ofServers(servers),
        }),
        // One process is client and worker.
        bare: sideOf(bareFlows, { 'api and worker ms': [bareFlows.pid], ...ofServers(servers) }),
        stop: async () => {
          await Promise.all([flows.stop(), bareFlows.stop()]);
        },
      };
    },
  },
];

function ofServers({ Temporal, PostgreSQL }: { Temporal: number; PostgreSQL: number }) {
  return { 'Temporal ms': [Temporal], 'PostgreSQL ms': [PostgreSQL] };
}

/** @param processes by the figure that counts them */
function sideOf(flows: Flows, processes: Readonly<Record<string, readonly number[]>>): Side {
  const spent = () =>
    Object.values(processes).map((pids) => pids.reduce((sum, pid) => sum + processorMs(pid), 0));
  return {
    measure: async (ms): Promise<Measured> => {
      const before = spent();
      const { completed } = await runLifecycles(flows, 'payout', ms);
      const after = spent();
      return Object.fromEntries(
        Object.keys(processes).map((name, n) => [
          name,
          ((after[n] ?? 0) - (before[n] ?? 0)) / completed,
        ]),
      );
    },
  };
}
