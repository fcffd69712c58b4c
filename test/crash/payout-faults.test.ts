/** Every branch of a payout under every fault of a step: it ends once, with the same records. */
import { amount, subtract } from '../../src/domain/money';
import {
  type ActivityName,
  type FaultCombination,
  faultCombinations,
} from '../support/chaos/activity-faults';
import { brokenInvariants } from '../support/servers/gateway';
import { type Branch, BRANCHES, startBranch } from '../support/payout/payout-branches';
import {
  type PayoutRecords,
  type PayoutCase,
  readRecords,
  readDetails,
  readPayout,
  readTaskFailures,
  whenOver,
} from '../support/payout/payout-case';
import { startWorkflowWorld, type WorkflowWorld } from '../support/servers/workflow-world';
import { FUNDS } from '../support/merchant/merchant';

type Combination = FaultCombination<Branch>;

/** Until the submission, the provider plays no part. */
const COMBINATIONS = faultCombinations(BRANCHES, ({ name, mode, review }, step) =>
  step === 'reservePayout' || step === 'approvePayout' ? `${mode} ${review ?? false}` : name,
);

interface Outcome {
  payout: PayoutCase;
  result: unknown;
  records: PayoutRecords;
}

let world: WorkflowWorld;
/** They run side by side, from the start: the test of each awaits its own. */
const outcomes = new Map<string, Promise<Outcome>>();

beforeAll(async () => {
  world = await startWorkflowWorld('payouts');
  // A requested payout approves itself after 2 s: those that have to be quicker go first.
  const isHurried = ({ branch }: Combination) => branch.name === 'cancelled-while-requested';
  await Promise.allSettled(COMBINATIONS.filter(isHurried).map(start));
  for (const combination of COMBINATIONS) if (!isHurried(combination)) void start(combination);
});

function start(combination: Combination): Promise<Outcome> {
  const outcome = run(combination);
  outcome.catch(() => undefined);
  outcomes.set(combination.title, outcome);
  return outcome;
}

afterAll(async () => {
  await Promise.allSettled(outcomes.values());
  await world.stop();
});

async function run({ branch, plan }: Combination): Promise<Outcome> {
  const payout = await startBranch(world, branch, { plan });
  const result = await whenOver(payout);
  return { payout, result, records: await readRecords(world, payout) };
}

/** On a busy machine a submission is answered too late, and the next one finds how it ended. */
function countOf(steps: readonly ActivityName[], step: ActivityName): number {
  const counted = step === 'checkPayout' ? ['submitPayout', step] : [step];
  return steps.filter((one) => counted.includes(one)).length;
}

test.each(COMBINATIONS)('$title: it ends once, with the expected records', async (combination) => {
  const { branch, plan, title } = combination;
  const { payout, result, records } = await outcomes.get(title)!;
  const status = branch.events.at(-1);
  const { totalDebit } = await readPayout(world, payout);
  const completed = status === 'completed';
  expect(records).toEqual({
    status,
    events: branch.events.map((event) => `payout.${event}`),
    available: completed ? subtract(amount(FUNDS), totalDebit) : FUNDS,
    reserved: '0.00000000',
    postings: ['payout_reserve', completed ? 'payout_settlement' : 'payout_release'],
    timesSent: completed ? 1 : 0,
  });
  expect(result).toBe(status);
  for (const step of branch.steps) {
    expect(countOf(plan.calls, step)).toBeGreaterThanOrEqual(countOf(branch.steps, step));
  }
  const missed = plan.activity === 'checkPayout' && !plan.calls.includes('checkPayout');
  if (plan.activity !== null) expect(plan.struck).toEqual(missed ? [] : [plan.activity]);
  else if (plan.kind === 'runs_twice') expect(plan.struck).toEqual(plan.calls);
  expect(await readTaskFailures(payout)).toEqual([]);
  expect(await readDetails(payout)).not.toContain('Remarks');
});

test('the ledger is sound after all of them', async () => {
  await Promise.all(outcomes.values());
  expect(await brokenInvariants(world)).toEqual([]);
});
