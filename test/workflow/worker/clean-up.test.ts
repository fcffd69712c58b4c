/** The clean-up forgets idempotency records that have ended, whatever else it cannot do. */
import { randomBytes } from 'node:crypto';
import { TASK_QUEUES, WORKFLOWS } from '../../../workflows/names';
import { createPaymentCase } from '../../support/payment/payment-case';
import { createPayoutCase } from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

const world = started(startWorkflowWorld);

async function cleanUp(): Promise<unknown> {
  return world.temporal.workflow.execute(WORKFLOWS.cleanUp, {
    workflowId: `clean-up-${randomBytes(6).toString('hex')}`,
    taskQueue: TASK_QUEUES.payouts,
  });
}

const END = `UPDATE idempotency_keys SET completed_at = now() - interval '26 hours'
              WHERE object_id = ?`;

test('a run deletes the record of an old request and leaves its payout', async () => {
  const [old, young] = [await createPayoutCase(world), await createPayoutCase(world)];
  await world.db.query(END, [old.id]);
  expect(await cleanUp()).toMatchObject({ keys: 1 });
  expect(await cleanUp()).toMatchObject({ keys: 0 });
  expect(await world.db.query('SELECT object_id FROM idempotency_keys')).toEqual([
    { objectId: young.id },
  ]);
  expect(await world.db.query('SELECT id FROM payouts')).toHaveLength(2);
});

test('a step that fails ends the run as failed and does not stop the other', async () => {
  const { id } = await createPayoutCase(world);
  await world.db.query(END, [id]);
  await world.db.query('ALTER TABLE webhook_attempts RENAME TO attempts_elsewhere');
  await expect(cleanUp()).rejects.toMatchObject({ cause: { activityType: 'cleanUpWebhooks' } });
  await world.db.query('ALTER TABLE attempts_elsewhere RENAME TO webhook_attempts');
  expect(await world.db.query('SELECT FROM idempotency_keys WHERE object_id = ?', [id])).toEqual(
    [],
  );
  expect(await cleanUp()).toMatchObject({ keys: 0 });
});

test('a step of restart-missing that fails ends the run as failed and does not stop the others', async () => {
  const payment = await createPaymentCase(world);
  await payment.handle.terminate('by a test');
  await world.db.query('ALTER TABLE payouts RENAME COLUMN workflow_checked_at TO looked_at');
  try {
    await waitFor('a new workflow of the payment', async () => {
      const failing = world.temporal.workflow.execute(WORKFLOWS.restartMissing, {
        workflowId: `restart-missing-${randomBytes(6).toString('hex')}`,
        taskQueue: TASK_QUEUES.payouts,
      });
      await expect(failing).rejects.toMatchObject({ cause: { activityType: 'restartPayouts' } });
      const { status } = await payment.handle.describe();
      return status.name !== 'TERMINATED';
    });
  } finally {
    await world.db.query('ALTER TABLE payouts RENAME COLUMN looked_at TO workflow_checked_at');
  }
});
