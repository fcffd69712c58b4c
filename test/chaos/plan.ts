/** Which faults happen when. The same seed and length make the same plan. */
import { OUTAGE_KINDS } from '../../src/rails/sandbox/outages';
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
/** The links of a wallet, which takes the place of the simulated provider. */
export const WALLET_LINKS = ['wallet-postgres', 'wallet-temporal', 'wallet-node'] as const;
export type LinkName = (typeof LINKS)[number] | (typeof WALLET_LINKS)[number];

const PROGRAMS = ['api-1', 'api-2', 'worker-1', 'worker-2', 'worker-webhooks'] as const;
export type ProgramName = (typeof PROGRAMS)[number] | 'wallet';

type Target = LinkName | ProgramName | 'postgres' | 'temporal' | 'provider' | 'node' | 'chain';

export interface Fault {
  kind: FaultKind;
  target: Target;
  /** Since the start of the load. */
  atMs: number;
  forMs: number;
  /**
   * `outage`: its kind at the provider. `clock`: the seconds by which it is wrong. `reorganization`:
   * the blocks that are replaced.
   */
  detail?: string;
}

export type FaultKind =
  | 'kill'
  | 'pause'
  | 'lose_requests'
  | 'lose_answers'
  | 'black_hole'
  | 'delay'
  | 'kill_server'
  | 'stop_server'
  | 'connections'
  | 'disk_full'
  | 'clock'
  | 'outage'
  | 'reorganization';

/** How many of 146 faults it is, its targets, and how long it lasts. */
interface FaultRule {
  share: number;
  targets: readonly Target[];
  seconds: readonly [number, number];
}

function rulesOf(onChain: boolean): Record<FaultKind, FaultRule> {
  // The wallet twice: it is what this run is about.
  const programs = onChain ? [...PROGRAMS, 'wallet' as const, 'wallet' as const] : PROGRAMS;
  const links = onChain ? [...LINKS, ...WALLET_LINKS] : LINKS;
  const [outages, reorganizations] = onChain ? [0, 15] : [15, 0];
  return {
    kill: { share: 35, targets: programs, seconds: [0, 3] },
    pause: { share: 20, targets: onChain ? [...programs, 'node'] : programs, seconds: [1, 15] },
    lose_requests: { share: 15, targets: links, seconds: [1, 6] },
    lose_answers: { share: 15, targets: links, seconds: [1, 6] },
    black_hole: { share: 10, targets: links, seconds: [20, 60] },
    delay: { share: 10, targets: links, seconds: [5, 20] },
    kill_server: { share: 8, targets: ['postgres'], seconds: [0, 5] },
    stop_server: { share: 5, targets: ['temporal'], seconds: [2, 30] },
    connections: { share: 5, targets: ['postgres'], seconds: [0, 0] },
    disk_full: { share: 2, targets: ['postgres'], seconds: [3, 12] },
    clock: { share: 6, targets: programs, seconds: [10, 40] },
    outage: { share: outages, targets: ['provider'], seconds: [3, 20] },
    reorganization: { share: reorganizations, targets: ['chain'], seconds: [0, 0] },
  };
}

/** Seconds: more than what a signature may be old. */
const WRONG_BY = ['+600', '-600'];
/** None reaches the `safe` block, which is 4 behind the head. */
const REPLACED_BLOCKS = ['1', '2', '3'];

const MEAN_GAP_MS = 5_500;
const SHORTEST_GAP_MS = 2_500;
/** What was interrupted ends without faults, so that it can be judged; a third of a short run. */
const QUIET_MS = 90_000;

/** @param onChain with a wallet in place of the simulated provider */
export function makePlan(seed: number, seconds: number, onChain = false): Fault[] {
  const dice = createDice(seed);
  const rules = rulesOf(onChain);
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
    const fault = chooseFault(
      dice,
      rules,
      atMs,
      pace,
      (target) => (busyUntil.get(target) ?? 0) < atMs,
    );
    if (fault === null || fault.atMs + fault.forMs > endMs) continue;
    busyUntil.set(fault.target, fault.atMs + fault.forMs + SHORTEST_GAP_MS);
    plan.push(fault);
  }
}

function chooseFault(
  dice: Dice,
  rules: Record<FaultKind, FaultRule>,
  atMs: number,
  pace: number,
  isFree: (target: Target) => boolean,
): Fault | null {
  const kinds = (Object.keys(rules) as FaultKind[]).flatMap((one) =>
    Array<FaultKind>(rules[one].share).fill(one),
  );
  const kind = dice.pick(kinds);
  const { targets, seconds } = rules[kind];
  const target = dice.pick<Target>(targets);
  const [least, most] = seconds;
  const forMs = Math.round((least + share(dice) * (most - least)) * 1_000 * pace);
  const details: Partial<Record<FaultKind, string>> = {
    outage: dice.pick(OUTAGE_KINDS),
    clock: dice.pick(WRONG_BY),
    reorganization: dice.pick(REPLACED_BLOCKS),
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
