/** The merchant's cancel as an update, also when somebody types it by hand. */
import { FaultPlan } from '../../support/chaos/activity-faults';
import {
  createPayoutCase,
  readRecords,
  readPayout,
  readTaskFailures,
  whenOver,
} from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { TASK_QUEUES, WORKFLOWS } from '../../../workflows/names';
import { newId } from '../../../src/platform/lib/new-id';
import { waitFor } from '../../support/wait-for';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const world = started(sharedInRoom('world', () => startWorkflowWorld('payouts')));

test.each<[string, unknown[]]>([
  ['nothing', []],
  ['null', [null]],
  ['a number', [42]],
  ['an object', [{ by: 'alice' }]],
  ['an empty text', ['']],
  ['a text that no database takes', ['a\0b']],
  ['half of a character', ['a\ud800']],
  ['an endless text', ['a'.repeat(1_500_000)]],
])('cancel by %s is refused, and the payout goes on', async (_what, args) => {
  const payout = await createPayoutCase(world);
  const cancelling = payout.handle.executeUpdate('cancel', { args: args as [unknown] });
  await expect(cancelling).rejects.toMatchObject({
    cause: {
      message:
        '`cancel` requires one string of at most 100 characters: the id or name of the caller.',
    },
  });
  expect((await readPayout(world, payout)).status).toBe('under_review');
  await payout.handle.signal('reject');
  expect(await whenOver(payout)).toBe('rejected');
  expect(await readTaskFailures(payout)).toEqual([]);
});

test('cancel against approve at the same moment: one counts, and the records agree', async () => {
  const payouts = await Promise.all([1, 2, 3, 4, 5, 6].map(() => createPayoutCase(world)));
  for (const payout of payouts) {
    await Promise.allSettled([
      payout.handle.signal('approve', { by: 'alice' }),
      world.payouts().cancel(payout.caller, payout.id),
    ]);
    const status = await whenOver(payout);
    expect(['completed', 'cancelled']).toContain(status);
    expect(await readRecords(world, payout)).toMatchObject({
      status,
      reserved: '0.00000000',
      timesSent: status === 'completed' ? 1 : 0,
    });
    expect(await readTaskFailures(payout)).toEqual([]);
  }
});

test('the same request again gets the first outcome, another finds it cancelled', async () => {
  const payout = await createPayoutCase(world);
  const cancel = (by: string) =>
    payout.handle.executeUpdate('cancel', { args: [by], updateId: by });
  const [first, again] = await Promise.all([cancel('req_one'), cancel('req_one')]);
  expect([first, again]).toEqual([{ kind: 'cancelled' }, { kind: 'cancelled' }]);
  expect(await whenOver(payout)).toBe('cancelled');
  await expect(world.payouts().cancel(payout.caller, payout.id)).rejects.toMatchObject({
    code: 'invalid_state',
    details: { status: 'cancelled' },
  });
});

test.each(['loses_result', 'runs_twice'] as const)(
  'a cancel whose step %s tells that it cancelled',
  async (kind) => {
    const plan = new FaultPlan(kind, 'cancelPayout');
    const payout = await createPayoutCase(world, { plan });
    const outcome = await payout.handle.executeUpdate('cancel', { args: ['req_one'] as [unknown] });
    expect(outcome).toEqual({ kind: 'cancelled' });
    expect(plan.struck).toContain('cancelPayout');
    expect(await whenOver(payout)).toBe('cancelled');
  },
);

test('cancel of what never came to be fails, and its workflow ends', async () => {
  const workflowId = newId('payout');
  await world.stopWorker();
  const handle = await world.temporal.workflow.start(WORKFLOWS.payout, {
    workflowId,
    taskQueue: TASK_QUEUES.payouts,
    args: [{ payoutId: workflowId }],
  });
  const cancelling = handle.executeUpdate('cancel', { args: ['req_one'] });
  const refused = expect(cancelling).rejects.toMatchObject({
    cause: { message: 'The payout does not exist.' },
  });
  await world.startWorker();
  await refused;
  expect(await handle.result()).toBe('abandoned');
  await waitFor('its end', async () => (await handle.describe()).status.name === 'COMPLETED');
});
