/** Every branch of a payment under every fault of a step: the same end, and each credit once. */
import { faultCombinations } from '../support/chaos/activity-faults';
import { brokenInvariants } from '../support/servers/gateway';
import { PAYMENT_BRANCHES, runPaymentBranch } from '../support/payment/payment-branches';
import { type PaymentCase, readPaymentRecords } from '../support/payment/payment-case';
import { readDetails, readTaskFailures } from '../support/payout/payout-case';
import { startWorkflowWorld, type WorkflowWorld } from '../support/servers/workflow-world';

/** Nothing has happened to a payment that is opened. */
const COMBINATIONS = faultCombinations(PAYMENT_BRANCHES, ({ name }, step) =>
  step === 'openPayment' ? '' : name,
);

let world: WorkflowWorld;
/** Those of a branch run side by side, two branches at a time: the test of each awaits its own. */
const outcomes = new Map<string, Promise<PaymentCase>>();

beforeAll(async () => {
  world = await startWorkflowWorld('payments');
  const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
  for (const [index, branch] of PAYMENT_BRANCHES.entries()) {
    const lane = index % lanes.length;
    const start = lanes[lane]!;
    const batch = COMBINATIONS.filter((one) => one.branch === branch).map(({ title, plan }) => {
      const outcome = start.then(() => runPaymentBranch(world, branch, { plan }));
      outcomes.set(title, outcome);
      return outcome;
    });
    lanes[lane] = Promise.allSettled(batch);
  }
});

afterAll(async () => {
  await Promise.allSettled(outcomes.values());
  await world.stop();
});

test.each(COMBINATIONS)(
  '$title: it ends with the expected records',
  async ({ title, branch, plan }) => {
    const payment = await outcomes.get(title)!;
    expect(await readPaymentRecords(world, payment)).toEqual(branch.expected);
    for (const step of branch.steps) {
      const needed = branch.steps.filter((one) => one === step).length;
      expect(plan.calls.filter((one) => one === step).length).toBeGreaterThanOrEqual(needed);
    }
    if (plan.activity !== null) expect(plan.struck).toEqual([plan.activity]);
    else if (plan.kind === 'runs_twice') expect(plan.struck).toEqual(plan.calls);
    expect(await readTaskFailures(payment)).toEqual([]);
    expect(await readDetails(payment)).not.toContain('Remarks');
  },
);

test('the ledger is sound after all of them', async () => {
  await Promise.all(outcomes.values());
  expect(await brokenInvariants(world)).toEqual([]);
});
