/**
 * Histories that the real program made, one a branch, replayed with the workflow code of today: a
 * change that would strand the payouts under way fails here. After a change on purpose (before
 * there are any): `UPDATE_HISTORIES=payment npm run test:workflow -- replay` makes those anew whose
 * names begin so; an empty text makes all.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { PAYLOAD_CONVERTER_PATH } from '../../../src/temporal/worker';
import { providerQueue } from '../../../workflows/names';
import { whenOver } from '../../support/payout/payout-case';
import { PAYMENT_HISTORY_BRANCHES } from './payment-histories';
import { BATCH_HISTORY_BRANCHES } from './batch-histories';
import { HISTORY_BRANCHES as PAYOUT_HISTORY_BRANCHES } from './payout-histories';
import {
  quietRuntime,
  startWorkflowWorld,
  writeHistory,
} from '../../support/servers/workflow-world';

const BRANCHES = [
  ...PAYOUT_HISTORY_BRANCHES,
  ...BATCH_HISTORY_BRANCHES,
  ...PAYMENT_HISTORY_BRANCHES,
];
const FOLDER = join(__dirname, '../../fixtures/histories');

beforeAll(async () => {
  const names = process.env['UPDATE_HISTORIES'];
  if (names === undefined) quietRuntime();
  else await writeHistories(names);
});

async function writeHistories(names: string): Promise<void> {
  const world = await startWorkflowWorld();
  for (const { name, start, staysOpen } of BRANCHES.filter((one) => one.name.startsWith(names))) {
    const object = await start(world);
    if (staysOpen !== true) await whenOver(object);
    const history = await object.handle.fetchHistory();
    writeHistory(FOLDER, name, history);
  }
  await world.stop();
}

interface Replay {
  workflowId: string;
  error?: Error | undefined;
}

async function replay(name: string, json: string): Promise<Replay[]> {
  const history = historyFromJSON(JSON.parse(json));
  const results: Replay[] = [];
  const replays = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    },
    [{ workflowId: name, history }],
  );
  for await (const result of replays) results.push(result);
  return results;
}

function readFixture(name: string): string {
  return readFileSync(join(FOLDER, `${name}.json`), 'utf8');
}

test('each branch has one history', () => {
  const names = BRANCHES.map(({ name }) => `${name}.json`);
  expect(readdirSync(FOLDER).sort()).toEqual(names.sort());
});

test.each(BRANCHES)('the history "$name" replays', async ({ name }) => {
  expect(await replay(name, readFixture(name))).toEqual([
    expect.objectContaining({ workflowId: name, error: undefined }),
  ]);
});

test('a submission that takes too long continues in the task queue of the provider', () => {
  const { events } = historyFromJSON(JSON.parse(readFixture('timeout-after-accept')));
  const steps = events!.flatMap((one) =>
    one.markerRecordedEventAttributes == null
      ? (one.activityTaskScheduledEventAttributes?.taskQueue?.name ?? [])
      : one.markerRecordedEventAttributes.failure == null
        ? 'local'
        : 'local, without a result',
  );
  const queue = providerQueue({ provider: 'onchain_provider', mode: 'live' });
  // Reserved, approved, submitted; the regular activity finds it.
  expect(steps.slice(0, 4)).toEqual(['local', 'local', 'local, without a result', queue]);
});

test('a history of other code does not replay', async () => {
  const other = readFixture('connection-reset').replaceAll('"submitPayout"', '"sendPayout"');
  const [result] = await replay('other', other);
  expect(result?.error).toBeInstanceOf(DeterminismViolationError);
});
