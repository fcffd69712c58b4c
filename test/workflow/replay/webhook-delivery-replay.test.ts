/**
 * Histories of deliveries that the real program made, one a branch, replayed with the workflow code
 * of today. `UPDATE_HISTORIES=1` makes them anew, after a change on purpose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { PAYLOAD_CONVERTER_PATH } from '../../../src/temporal/worker';
import {
  BRANCH_SCHEDULE,
  DELIVERY_BRANCHES,
  startWebhookDeliveryBranch,
} from '../../support/webhook/webhook-delivery-branches';
import { startWebhookDeliveryWorld, whenOver } from '../../support/webhook/webhook-delivery-world';
import { quietRuntime, writeHistory } from '../../support/servers/workflow-world';

const FOLDER = join(__dirname, '../../fixtures/webhook-delivery-histories');

beforeAll(async () => {
  if (process.env['UPDATE_HISTORIES'] === '1') await writeHistories();
  else quietRuntime();
});

async function writeHistories(): Promise<void> {
  const world = await startWebhookDeliveryWorld(BRANCH_SCHEDULE);
  for (const branch of DELIVERY_BRANCHES) {
    const { deliveryId, receiver } = await startWebhookDeliveryBranch(world, branch);
    await whenOver(world, deliveryId);
    const history = await world.temporal.workflow.getHandle(deliveryId).fetchHistory();
    writeHistory(FOLDER, branch.name, history);
    await receiver.stop();
  }
  await world.stop();
}

async function replay(workflowId: string, json: string): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  const replays = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    },
    [{ workflowId, history: historyFromJSON(JSON.parse(json)) }],
  );
  for await (const { error } of replays) errors.push(error);
  return errors;
}

const read = (name: string): string => readFileSync(join(FOLDER, `${name}.json`), 'utf8');

test('each branch has one history', () => {
  const names = DELIVERY_BRANCHES.map(({ name }) => `${name}.json`);
  expect(readdirSync(FOLDER).sort()).toEqual(names.sort());
});

test.each(DELIVERY_BRANCHES)('the history "$name" replays', async ({ name }) => {
  expect(await replay(name, read(name))).toEqual([undefined]);
});

test('a delivery that is taken at once costs one workflow task and at most 7 events', () => {
  const { events } = historyFromJSON(JSON.parse(read('taken-at-once')));
  const tasks = events!.filter((event) => event.workflowTaskCompletedEventAttributes != null);
  expect(tasks).toHaveLength(1);
  expect(events!.length).toBeLessThanOrEqual(7);
});

test('a history of other code does not replay', async () => {
  const other = read('taken-later').replaceAll('"attemptWebhookDelivery"', '"sendWebhookDelivery"');
  const [error] = await replay('other', other);
  expect(error).toBeInstanceOf(DeterminismViolationError);
});
