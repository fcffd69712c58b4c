/** The clean-up forgets idempotency records that have ended, whatever else it cannot do. */
import { randomBytes } from 'node:crypto';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { PAYLOAD_CONVERTER_PATH } from '../../../src/temporal/worker';
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

test('a step of restart-missing that does not end in time is left to the next run', async () => {
  const handle = await world.temporal.workflow.start(WORKFLOWS.restartMissing, {
    workflowId: `restart-missing-${randomBytes(6).toString('hex')}`,
    taskQueue: TASK_QUEUES.payouts,
  });
  expect(await handle.result()).toMatchObject({ postponed: 0 });
  const history = historyWithLateStep(historyToJSON(await handle.fetchHistory()));
  const replays = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    },
    [{ workflowId: handle.workflowId, history: historyFromJSON(JSON.parse(history)) }],
  );
  // The history says that the other steps followed and the run completed. A run that fails differs from it.
  for await (const { error } of replays) expect(error).toBeUndefined();
  expect.assertions(2);
});

/** The first step as the server records it when a busy worker gives no answer within 60 seconds. */
function historyWithLateStep(json: string): string {
  const history = JSON.parse(json) as { events: Record<string, unknown>[] };
  const late = history.events.find(
    (one) => one['eventType'] === 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED',
  )!;
  const { scheduledEventId, startedEventId } = late['activityTaskCompletedEventAttributes'] as {
    scheduledEventId: string;
    startedEventId: string;
  };
  delete late['activityTaskCompletedEventAttributes'];
  late['eventType'] = 'EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT';
  late['activityTaskTimedOutEventAttributes'] = {
    scheduledEventId,
    startedEventId,
    retryState: 'RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED',
    failure: {
      message: 'activity StartToClose timeout',
      timeoutFailureInfo: { timeoutType: 'TIMEOUT_TYPE_START_TO_CLOSE' },
    },
  };
  return JSON.stringify(history);
}
