/**
 * Somebody who may start workflows starts some of their own for a payout or a payment: its route and
 * fee are those that the API stored, only its own workflow moves it, and the attempt opens a case.
 */
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { TASK_QUEUES, WORKFLOWS } from '../../../workflows/names';
import { createPaymentCase } from '../../support/payment/payment-case';
import { createPayoutCase, readPayout, whenOver } from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { started } from '../../support/started';

const world = started(startWorkflowWorld);

test('a workflow that was started first with another network reserves the stored route', async () => {
  const value = magicAddress('sends', 'evm');
  const payout = await createPayoutCase(world, {
    request: {
      network: 'ethereum',
      destination: { type: 'crypto_address', value, memo: null },
    },
    onStart: async (payoutId) => {
      const input = { payoutId, provider: 'exchange_pay', network: 'tron', networkFee: '0' };
      await world.temporal.workflow.start(WORKFLOWS.payout, {
        workflowId: payoutId,
        taskQueue: TASK_QUEUES.payouts,
        args: [input],
      });
    },
  });
  const stored = await readPayout(world, payout);
  expect(stored).toMatchObject({ provider: 'onchain_provider', network: 'ethereum' });
  expect(stored.networkFee).not.toBe('0.00000000');
  await payout.handle.signal('reject', { by: 'alice' });
  await whenOver(payout);
});

test('another workflow cannot approve a payout: it fails, and a case is opened', async () => {
  const payout = await createPayoutCase(world);
  const twin = await world.temporal.workflow.start(WORKFLOWS.payout, {
    workflowId: `twin-of-${payout.id}`,
    taskQueue: TASK_QUEUES.payouts,
    args: [{ payoutId: payout.id }],
  });
  await twin.signal('approve', { by: 'mallory' });
  await expect(twin.result()).rejects.toThrow('Workflow execution failed');
  expect(await readPayout(world, payout)).toMatchObject({ status: 'under_review' });
  expect(await casesOf(payout.id)).toMatchObject([
    {
      kind: 'foreign_workflow',
      details: {
        workflow_id: `twin-of-${payout.id}`,
        run_id: twin.firstExecutionRunId,
        activity: 'reservePayout',
      },
    },
  ]);
  await payout.handle.signal('reject', { by: 'alice' });
  await whenOver(payout);
});

test('another workflow cannot refund a payment', async () => {
  const payment = await createPaymentCase(world);
  const twin = await world.temporal.workflow.start(WORKFLOWS.payment, {
    workflowId: `twin-of-${payment.id}`,
    taskQueue: TASK_QUEUES.payments,
    args: [{ paymentId: payment.id, provider: 'onchain_provider', mode: 'test' }],
  });
  await expect(twin.result()).rejects.toThrow('Workflow execution failed');
  expect(await casesOf(payment.id)).toMatchObject([{ kind: 'foreign_workflow' }]);
});

test('each status change is stored with who caused it and in which run', async () => {
  const payout = await createPayoutCase(world);
  await payout.handle.signal('approve', { by: 'alice' });
  await whenOver(payout);
  const { runId } = await payout.handle.describe();
  const trail = await world.db.query(
    'SELECT type, actor, run_id FROM events WHERE object_id = ? ORDER BY sequence',
    [payout.id],
  );
  expect(trail).toEqual([
    { type: 'payout.requested', actor: null, runId },
    { type: 'payout.approved', actor: 'alice', runId },
    { type: 'payout.processing', actor: null, runId },
    { type: 'payout.completed', actor: null, runId },
  ]);
});

function casesOf(objectId: string): Promise<object[]> {
  return world.db.query('SELECT kind, details FROM cases WHERE object_id = ?', [objectId]);
}
