/** One chaos run: the layout, the load and the faults of a plan, and the verdict about all of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../bench/load';
import { playFaults, type Played } from './faults';
import { judge, type Verdict } from './judge';
import { type Layout, missingParts, startLayout } from './layout';
import { type Load, startLoad } from './load';
import { watchNamespace } from './namespace-watch';
import { describeFault, type Fault } from './plan';

export interface Report extends Verdict {
  faults: number;
  /** Requests, and what operators decided, customers paid and merchants did to their keys. */
  operations: number;
  /** Seconds without a fault until a request is accepted, from the end of each fault. */
  recovery: { p50: number; p95: number; max: number };
  lines: string[];
}

/** A merchant would call the gateway down after that. */
const RECOVERED_WITHIN_S = 60;

interface Run {
  seed: number;
  seconds: number;
  plan: readonly Fault[];
  /** With the wallet in place of the simulated provider. */
  onChain?: boolean;
  /** Rejects if the run is to end before. */
  interrupted?: Promise<never>;
}

export async function runChaos(run: Run, log: (line: string) => void): Promise<Report> {
  log('starting PostgreSQL, Temporal, the providers and the programs');
  const layout = await startLayout(run.onChain ?? false);
  missingParts(layout).forEach(log);
  try {
    const { interrupted = new Promise<never>(() => undefined) } = run;
    return await Promise.race([runLoad(layout, run, log), interrupted]);
  } finally {
    await layout.stop();
  }
}

async function runLoad(
  layout: Layout,
  { seed, seconds, plan }: Run,
  log: (line: string) => void,
): Promise<Report> {
  await layout.gateway.db.query('UPDATE payout_policies SET daily_max = NULL');
  const load = startLoad(layout, seed);
  const watch = watchNamespace(layout, log);
  const begun = performance.now();
  const played = await playFaults(layout, plan, (fault) => {
    log(describeFault(fault));
  });
  await sleep(Math.max(0, seconds * 1_000 - (performance.now() - begun)));
  log('no more requests; waiting for what is open');
  await load.stop();
  const verdict = await judge(layout, load, played);
  const restarts = await watch.stop();
  return reportOf(load, played, verdict, restarts);
}

/** @param restarts of the Temporal server, by namespace-watch.ts */
function reportOf(
  load: Load,
  played: readonly Played[],
  verdict: Verdict,
  restarts: number,
): Report {
  const recoveries = played
    .map(({ endedAt }) => recoveryAfter(load, played, endedAt))
    .filter((one) => one !== null)
    .toSorted((a, b) => a - b);
  const recovery = {
    p50: percentile(recoveries, 0.5),
    p95: percentile(recoveries, 0.95),
    max: recoveries.at(-1) ?? 0,
  };
  const slow = recovery.max > RECOVERED_WITHIN_S;
  const violations = [
    ...verdict.violations,
    ...(slow ? [`a recovery took ${recovery.max.toFixed(1)} s`] : []),
  ];
  const requests = load.histories.reduce((sum, one) => sum + one.operations.length, 0);
  const operations = requests + load.acts;
  const byKind = new Map<string, number>();
  for (const { fault } of played) byKind.set(fault.kind, (byKind.get(fault.kind) ?? 0) + 1);
  const { lostAcknowledgements, doubleSends } = verdict;
  return {
    ...{ ...verdict, violations, faults: played.length, operations, recovery },
    lines: [
      `${operations} operations, ${requests} of them requests, for ${load.histories.length} objects: ${listOf([...load.counts])}`,
      `${played.length} faults: ${listOf([...byKind])}`,
      `recovery: p50 ${recovery.p50.toFixed(1)} s, p95 ${recovery.p95.toFixed(1)} s, longest ${recovery.max.toFixed(1)} s; nothing was accepted for at most ${longestGap(load).toFixed(1)} s`,
      ...(restarts === 0
        ? []
        : [
            `Temporal's development server was restarted ${restarts} times: it had lost its database`,
          ]),
      `${violations.length} violations, ${lostAcknowledgements.length} lost acknowledgements, ${doubleSends.length} double sends`,
      ...[...violations, ...lostAcknowledgements, ...doubleSends].map((one) => `  ${one}`),
    ],
  };
}

/**
 * From the end of a fault to the answer to the next accepted request, without the time in which another
 * fault lasts. Null: the load ended before.
 */
function recoveryAfter(
  { acceptedAt }: Load,
  played: readonly Played[],
  endedAt: number,
): number | null {
  const answers = acceptedAt
    .filter(({ startedAt }) => startedAt >= endedAt)
    .map((one) => one.endedAt);
  if (answers.length === 0) return null;
  const answeredAt = Math.min(...answers);
  let reached = endedAt;
  let quietMs = 0;
  for (const fault of played.toSorted((one, other) => one.startedAt - other.startedAt)) {
    quietMs += Math.max(0, Math.min(fault.startedAt, answeredAt) - reached);
    reached = Math.max(reached, Math.min(fault.endedAt, answeredAt));
  }
  return (quietMs + answeredAt - reached) / 1_000;
}

/** The longest time without an accepted request, in seconds, with all that failed meanwhile. */
function longestGap({ acceptedAt }: Load): number {
  const times = acceptedAt.map((one) => one.endedAt).toSorted((a, b) => a - b);
  return Math.max(0, ...times.slice(1).map((at, n) => at - (times[n] ?? at))) / 1_000;
}

function listOf(counts: readonly (readonly [string, number])[]): string {
  return counts
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
