/** Every branch of a delivery under every fault of a step: as many requests, and the same end. */
import { FaultPlan } from '../support/chaos/activity-faults';
import {
  BRANCH_SCHEDULE,
  DELIVERY_BRANCHES,
  type WebhookDeliveryBranch,
  type WebhookDeliveryCase,
  startWebhookDeliveryBranch,
} from '../support/webhook/webhook-delivery-branches';
import {
  attemptsOf,
  deliveryOf,
  type WebhookDeliveryWorld,
  startWebhookDeliveryWorld,
  whenOver,
} from '../support/webhook/webhook-delivery-world';

interface Combination {
  title: string;
  branch: WebhookDeliveryBranch;
  plan: FaultPlan;
}

const COMBINATIONS: Combination[] = DELIVERY_BRANCHES.flatMap((branch) => {
  const combine = (what: string, plan: FaultPlan) => ({
    title: `${branch.name}: ${what}`,
    branch,
    plan,
  });
  const calls = Array.from({ length: branch.attempts }, (_, index) => index + 1);
  return [
    combine('no fault', new FaultPlan()),
    combine('every step twice', new FaultPlan('runs_twice')),
    ...calls.flatMap((call) => [
      combine(
        `call ${call} fails before`,
        new FaultPlan('fails_before', 'attemptWebhookDelivery', call),
      ),
      combine(
        `call ${call} loses its result`,
        new FaultPlan('loses_result', 'attemptWebhookDelivery', call),
      ),
    ]),
    ...(branch.end === 'abandoned'
      ? [
          combine(
            'abandon loses its result',
            new FaultPlan('loses_result', 'abandonWebhookDelivery'),
          ),
        ]
      : []),
  ];
});

let world: WebhookDeliveryWorld;
/** They run side by side, from the start: the test of each awaits its own. */
const cases = new Map<string, Promise<WebhookDeliveryCase>>();

beforeAll(async () => {
  world = await startWebhookDeliveryWorld(BRANCH_SCHEDULE);
  for (const { title, branch, plan } of COMBINATIONS) {
    const running = startWebhookDeliveryBranch(world, branch, plan);
    running.catch(() => undefined);
    cases.set(title, running);
  }
});

afterAll(async () => {
  await Promise.allSettled(cases.values());
  await world.stop();
});

test.each(COMBINATIONS)('$title', async ({ title, branch, plan }) => {
  const { deliveryId, eventId, receiver } = await cases.get(title)!;
  expect(await whenOver(world, deliveryId)).toBe(branch.end);
  expect(await deliveryOf(world, eventId)).toMatchObject({
    status: branch.end,
    attempts: branch.attempts,
  });
  const attempts = await attemptsOf(world, deliveryId);
  expect(attempts.map(({ number }) => number)).toEqual(attempts.map((_, index) => index + 1));
  expect(attempts).toHaveLength(branch.requests);
  expect(receiver.of(eventId)).toHaveLength(branch.requests);
  if (plan.activity !== null) expect(plan.struck).toEqual([plan.activity]);
  const { events } = await world.temporal.workflow.getHandle(deliveryId).fetchHistory();
  const failures = events!.flatMap((one) => one.workflowTaskFailedEventAttributes ?? []);
  // 1: UNHANDLED_COMMAND, a signal that came in while the task was at work.
  expect(failures.filter(({ cause }) => Number(cause) !== 1)).toEqual([]);
  await receiver.stop();
});
