/**
 * Histories that the real wallet made, replayed with the workflow code of today. After a change on
 * purpose: `UPDATE_HISTORIES=wallet npm run test:workflow -- replay` makes them anew.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { PAYLOAD_CONVERTER } from '../../../src/rails/wallet/durable/workers';
import { WALLET_HISTORIES } from '../../support/wallet/durable-wallet';
import { quietRuntime } from '../../support/servers/workflow-world';

const NAMES = ['sweep'];

beforeAll(quietRuntime);

const read = (name: string): string => readFileSync(join(WALLET_HISTORIES, `${name}.json`), 'utf8');

async function replay(json: string): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  const replays = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: process.env['TEST_WALLET_WORKFLOW_BUNDLE'] ?? '' },
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER },
    },
    [{ workflowId: 'replayed', history: historyFromJSON(JSON.parse(json)) }],
  );
  for await (const { error } of replays) errors.push(error);
  return errors;
}

test('each workflow has a history', () => {
  expect(readdirSync(WALLET_HISTORIES).sort()).toEqual(NAMES.map((name) => `${name}.json`).sort());
});

test.each(NAMES)('the history "%s" replays', async (name) => {
  expect(await replay(read(name))).toEqual([undefined]);
});

test('a history of other code does not replay', async () => {
  const [error] = await replay(read('sweep').replaceAll('"sendSweep"', '"broadcastSweep"'));
  expect(error).toBeInstanceOf(DeterminismViolationError);
});
