/** Which faults happen when. The same seed and length make the same plan. */
import { OUTAGE_KINDS } from '../../src/sandbox/outages';
import { createDice, type Dice } from '../support/seeded-random';

export const LINKS = [
  'client-api-1',
  'client-api-2',
  'api-postgres',
  'api-temporal',
  'worker-postgres',
  'worker-temporal',
  'worker-provider',
  'worker-receiver',
  'provider-api',
] as const;
export type LinkName = (typeof LINKS)[number];

export const PROGRAMS = ['api-1', 'api-2', 'worker-1', 'worker-2', 'worker-webhooks'] as const;
export type ProgramName = (typeof PROGRAMS)[number];

type Target = LinkName | ProgramName | 'postgres' | 'temporal' | 'provider';

export interface Fault {
  kind: FaultKind;
  target: Target;
  /** Since the start of the load. */
  atMs: number;
  forMs: number;
  /** `outage`: its kind at the provider. `clock`: the seconds by which it is wrong. */
  detail?: string;
}

/** kind → how many of 146 faults it is, its targets, and how long it lasts. */
const FAULTS = {
  kill: { share: 35, targets: PROGRAMS, seconds: [0, 3] },
  pause: { share: 20, targets: PROGRAMS, seconds: [1, 15] },
  lose_requests: { share: 15, targets: LINKS, seconds: [1, 6] },
  lose_answers: { share: 15, targets: LINKS, seconds: [1, 6] },
  black_hole: { share: 10, targets: LINKS, seconds: [20, 60] },
  delay: { share: 10, targets: LINKS, seconds: [5, 20] },
  kill_server: { share: 8, targets: ['postgres'], seconds: [0, 5] },
  stop_server: { share: 5, targets: ['temporal'], seconds: [2, 30] },
  connections: { share: 5, targets: ['postgres'], seconds: [0, 0] },
  disk_full: { share: 2, targets: ['postgres'], seconds: [3, 12] },
  clock: { share: 6, targets: PROGRAMS, seconds: [10, 40] },
  outage: { share: 15, targets: ['provider'], seconds: [3, 20] },
} as const satisfies Record<
  string,
  { share: number; targets: readonly Target[]; seconds: readonly [number, number] }
>;
export type FaultKind = keyof typeof FAULTS;

/** Seconds: more than what a signature may be old. */
const WRONG_BY = ['+600', '-600'];

const KINDS = (Object.keys(FAULTS) as FaultKind[]).flatMap((kind) =>
  Array<FaultKind>(FAULTS[kind].share).fill(kind),
);

const MEAN_GAP_MS = 7_500;
const SHORTEST_GAP_MS = 2_500;
/** What was interrupted ends without faults, so that it can be judged; a third of a short run. */
const QUIET_MS = 90_000;

export function makePlan(seed: number, seconds: number): Fault[] {
  const dice = createDice(seed);
  const totalMs = seconds * 1_000;
  const endMs = totalMs - Math.min(QUIET_MS, totalMs / 3);
  const busyUntil = new Map<Target, number>();
  const plan: Fault[] = [];
  // A short run has short faults, closer together.
  const pace = Math.min(1, endMs / 300_000);
  let atMs = 0;
  for (;;) {
    atMs += Math.max(SHORTEST_GAP_MS, (0.4 + 1.2 * share(dice)) * MEAN_GAP_MS * Math.sqrt(pace));
    if (atMs >= endMs) return plan;
    const fault = chooseFault(dice, atMs, pace, (target) => (busyUntil.get(target) ?? 0) < atMs);
    if (fault === null || fault.atMs + fault.forMs > endMs) continue;
    busyUntil.set(fault.target, fault.atMs + fault.forMs + SHORTEST_GAP_MS);
    plan.push(fault);
  }
}

function chooseFault(
  dice: Dice,
  atMs: number,
  pace: number,
  isFree: (target: Target) => boolean,
): Fault | null {
  const kind = dice.pick(KINDS);
  const { targets, seconds } = FAULTS[kind];
  const target = dice.pick<Target>(targets);
  const [least, most] = seconds;
  const forMs = Math.round((least + share(dice) * (most - least)) * 1_000 * pace);
  const details: Partial<Record<FaultKind, string>> = {
    outage: dice.pick(OUTAGE_KINDS),
    clock: dice.pick(WRONG_BY),
  };
  if (!isFree(target)) return null;
  const detail = details[kind];
  const fault = { kind, target, atMs: Math.round(atMs), forMs };
  return detail === undefined ? fault : { ...fault, detail };
}

/** From 0 to below 1. */
function share(dice: Dice): number {
  return dice.roll(1_000_000) / 1_000_000;
}

export function describeFault({ kind, target, atMs, forMs, detail }: Fault): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1).padStart(6);
  return `${seconds(atMs)} s  ${kind.padEnd(14)} ${target.padEnd(16)} ${seconds(forMs)} s${detail === undefined ? '' : `  ${detail}`}`;
}
