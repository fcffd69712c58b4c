/**
 * Faults around the real activities: what a crashed worker, a lost answer or a second delivery
 * does to a payout. A plan belongs to one payout, so that many payouts can share a worker.
 */
import type { Activities } from '../../../activities';
import { scaled } from '../scale';

export type ActivityName = Exclude<keyof Activities, 'restartPayouts'>;

export type FaultKind = 'fails_before' | 'loses_result' | 'runs_twice';

export class FaultPlan {
  readonly calls: ActivityName[] = [];
  /** The calls that met the fault, in their order. */
  readonly struck: ActivityName[] = [];

  /**
   * @param activity null means every activity
   * @param call which call of an activity fails, from 1; `runs_twice` strikes all of them
   */
  constructor(
    readonly kind: FaultKind | 'none' = 'none',
    readonly activity: ActivityName | null = null,
    readonly call = 1,
  ) {}

  async run<T>(activity: ActivityName, work: () => Promise<T>): Promise<T> {
    this.calls.push(activity);
    if (!this.#strikes(activity)) return work();
    this.struck.push(activity);
    if (this.kind === 'fails_before') throw new Error(`${activity} fails before it does anything`);
    const first = await work();
    if (this.kind === 'loses_result')
      throw new Error(`${activity} loses the result ${what(first)}`);
    this.calls.push(activity);
    this.struck.push(activity);
    return work();
  }

  #strikes(activity: ActivityName): boolean {
    if (this.kind === 'none' || (this.activity !== null && this.activity !== activity))
      return false;
    if (this.kind === 'runs_twice') return true;
    return this.calls.filter((one) => one === activity).length === this.call;
  }
}

export interface FaultCombination<Branch> {
  title: string;
  branch: Branch;
  plan: FaultPlan;
}

/**
 * Each branch without a fault, with every step twice, and with each of its steps failing. Branches
 * begin alike: a step fails in the first branch that gets that far in the same way; in a long run
 * in all of them.
 * @param wayTo what tells the ways to a step apart, besides the steps themselves
 */
export function faultCombinations<Branch extends { title: string; steps: ActivityName[] }>(
  branches: readonly Branch[],
  wayTo: (branch: Branch, step: ActivityName) => string,
): FaultCombination<Branch>[] {
  const failed = new Set<string>();
  const isKnown = (branch: Branch, index: number): boolean => {
    const steps = branch.steps.slice(0, index + 1);
    const way = `${wayTo(branch, steps.at(-1)!)} ${steps.join(' ')}`;
    return failed.has(way) || !failed.add(way);
  };
  return branches.flatMap((branch) => [
    { title: `${branch.title}, without a fault`, branch, plan: new FaultPlan() },
    { title: `${branch.title}, every step twice`, branch, plan: new FaultPlan('runs_twice') },
    ...branch.steps.flatMap((step, index) => {
      if (scaled(isKnown(branch, index), false)) return [];
      const call = branch.steps.slice(0, index + 1).filter((one) => one === step).length;
      const what = `${branch.title}, ${step} (call ${call})`;
      return [
        { title: `${what} fails before`, branch, plan: new FaultPlan('fails_before', step, call) },
        {
          title: `${what} loses its result`,
          branch,
          plan: new FaultPlan('loses_result', step, call),
        },
      ];
    }),
  ]);
}

/** @param planOf by the payout's id; payouts without a plan meet no fault */
export function withFaults(
  activities: Activities,
  planOf: (payoutId: string) => FaultPlan | undefined,
): Activities {
  const wrapped = Object.entries(activities).map(([name, activity]) => {
    const run = activity as (...args: unknown[]) => Promise<unknown>;
    const faulty = async (...args: unknown[]): Promise<unknown> => {
      const plan = planOf(payoutIdOf(args[0]));
      const work = () => run(...args);
      return plan === undefined ? work() : plan.run(name as ActivityName, work);
    };
    return [name, faulty] as const;
  });
  return Object.fromEntries(wrapped) as unknown as Activities;
}

/** Every activity takes its object's id first, at times as part of an input. */
function payoutIdOf(argument: unknown): string {
  if (typeof argument === 'string') return argument;
  const input = argument as
    { payoutId?: string; paymentId?: string; deliveryId?: string } | undefined;
  return input?.payoutId ?? input?.paymentId ?? input?.deliveryId ?? '';
}

function what(result: unknown): string {
  return JSON.stringify(result);
}
