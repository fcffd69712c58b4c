/** The reconciler also forgets idempotency records that have ended, whatever else it cannot do. */
import { randomBytes } from 'node:crypto';
import { rows } from '../../src/db/transaction';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import { createPayoutCase } from '../support/payout-case';
import { startWorkflowWorld, type WorkflowWorld } from '../support/workflow-world';

let world: WorkflowWorld;

beforeAll(async () => {
  world = await startWorkflowWorld();
});

afterAll(async () => {
  await world.stop();
});

async function reconcile(): Promise<unknown> {
  return world.temporal.workflow.execute(WORKFLOWS.restartMissing, {
    workflowId: `reconcile-${randomBytes(6).toString('hex')}`,
    taskQueue: TASK_QUEUES.payouts,
  });
}

test('a run of the reconciler deletes the record of an old request and leaves its payout', async () => {
  const [old, young] = [await createPayoutCase(world), await createPayoutCase(world)];
  await rows(
    world.db,
    `UPDATE idempotency_keys SET completed_at = now() - interval '26 hours' WHERE object_id = ?`,
    [old.id],
  );
  expect(await reconcile()).toMatchObject({ deleted: 1 });
  expect(await reconcile()).toMatchObject({ deleted: 0 });
  expect(await rows(world.db, 'SELECT object_id FROM idempotency_keys')).toEqual([
    { object_id: young.id },
  ]);
  expect(await rows(world.db, 'SELECT id FROM payouts')).toHaveLength(2);
});

test('a step that fails ends the run as failed, and keeps none of the others from their work', async () => {
  const { id } = await createPayoutCase(world);
  await rows(
    world.db,
    `UPDATE idempotency_keys SET completed_at = now() - interval '26 hours' WHERE object_id = ?`,
    [id],
  );
  await rows(world.db, 'ALTER TABLE payouts RENAME COLUMN workflow_checked_at TO looked_at');
  const failing = reconcile();
  await expect(failing).rejects.toMatchObject({ cause: { activityType: 'restartPayouts' } });
  await rows(world.db, 'ALTER TABLE payouts RENAME COLUMN looked_at TO workflow_checked_at');
  expect(await rows(world.db, 'SELECT FROM idempotency_keys WHERE object_id = ?', [id])).toEqual(
    [],
  );
  expect(await reconcile()).toMatchObject({ deleted: 0 });
});
