/** The histories of batches and of a schedule's run that are kept under test/fixtures/histories, and how to make each. */
import { randomBytes } from 'node:crypto';
import { insertBatchDecision } from '../../../src/db/payout-batches/payout-batch-decisions';
import { getPayoutBatch } from '../../../src/db/payout-batches/payout-batches';
import { listScheduleRuns } from '../../../src/db/payout-schedules/payout-schedule-runs';
import type { Mode } from '../../../src/domain/mode';
import { amount } from '../../../src/domain/money';
import type { PayoutBatch } from '../../../src/domain/payout-batch';
import { runWorkflowId } from '../../../src/domain/payout-schedule';
import { newId } from '../../../src/platform/lib/new-id';
import { TASK_QUEUES, WORKFLOWS } from '../../../workflows/names';
import { makeUser } from '../../support/merchant/page-client';
import type { WorkflowWorld } from '../../support/servers/workflow-world';
import { waitFor } from '../../support/wait-for';
import {
  buildRequest,
  createCaller,
  type PayoutCase,
  whenDetails,
} from '../../support/payout/payout-case';
import type { HistoryBranch } from './payout-histories';

/** More than are released at once, so that a batch that is stopped has rows to return. */
const MANY_ROWS = 40;

function idOf({ body }: { body: Buffer }): string {
  return (JSON.parse(body.toString()) as { data: { id: string } }).data.id;
}

function buildRows(count: number) {
  return Array.from({ length: count }, () => buildRequest('sends', { amount: amount('1') }));
}

interface Wish {
  mode?: Mode;
  rows?: number;
  /** Whether a person of the merchant makes it, and another one has to approve it. */
  needsSecondPerson?: boolean;
}

export async function createBatch(
  world: WorkflowWorld,
  { mode = 'live', rows = 3, needsSecondPerson = false }: Wish = {},
): Promise<PayoutCase> {
  const caller = await createCaller(world, mode, 'USDT', false);
  if (needsSecondPerson) {
    const { id } = await makeUser(world.db, 'merchant', 'finance', caller.accountId);
    caller.apiKeyId = id;
    const sql = `UPDATE accounts SET second_person_above = '{"USDT": "1"}' WHERE id = ?`;
    await world.db.query(sql, [caller.accountId]);
  }
  const answer = await world.payoutBatches.create(caller, {
    idempotencyKey: randomBytes(12).toString('hex'),
    reference: `batch-${randomBytes(8).toString('hex')}`,
    description: null,
    rows: buildRows(rows),
  });
  const id = idOf(answer);
  return { id, caller, handle: world.temporal.workflow.getHandle(id) };
}

function whenBatch(
  { db }: WorkflowWorld,
  { id }: PayoutCase,
  what: string,
  isSo: (batch: PayoutBatch) => boolean,
): Promise<PayoutBatch> {
  return waitFor(`${id} ${what}`, async () => {
    const batch = await getPayoutBatch(db, id);
    return isSo(batch) ? batch : undefined;
  });
}

async function decideInConsole(world: WorkflowWorld, { id, handle }: PayoutCase): Promise<void> {
  const { id: userId } = await makeUser(world.db, 'operator', 'reviewer');
  const { manifestSha256 } = await getPayoutBatch(world.db, id);
  const decision = newId('decision');
  await insertBatchDecision(world.db, {
    ...{ id: decision, batchId: id, kind: 'approve', manifestSha256 },
    ...{ rowNumbers: null, userId, reason: null },
  });
  await handle.executeUpdate('decide', { args: [decision], updateId: decision });
}

export const BATCH_HISTORY_BRANCHES: readonly HistoryBranch[] = [
  { name: 'batch-approves-itself', start: (world) => createBatch(world, { mode: 'test' }) },
  {
    name: 'batch-approved',
    start: async (world) => {
      const batch = await createBatch(world);
      const { manifestSha256: manifest } = await getPayoutBatch(world.db, batch.id);
      await batch.handle.signal('approve', { by: 'alice', manifest: '0'.repeat(64) });
      await whenDetails(batch, /the batch has another manifest/);
      await batch.handle.signal('approve', { by: 'alice', manifest });
      return batch;
    },
  },
  {
    name: 'batch-left-out-then-approved-in-console',
    start: async (world) => {
      const batch = await createBatch(world);
      await world.payoutBatches.leaveOut(batch.caller, batch.id, [2]);
      await decideInConsole(world, batch);
      return batch;
    },
  },
  {
    name: 'batch-rejected',
    start: async (world) => {
      const batch = await createBatch(world);
      await batch.handle.signal('reject', { by: 'bob', reason: 'no' });
      return batch;
    },
  },
  {
    name: 'batch-stopped-while-sent',
    start: async (world) => {
      const batch = await createBatch(world, { mode: 'test', rows: MANY_ROWS });
      await whenBatch(world, batch, 'to be processed', ({ status }) => status === 'processing');
      await world.payoutBatches.stop(batch.caller, batch.id);
      return batch;
    },
  },
  {
    name: 'batch-without-second-person',
    start: async (world) => {
      const batch = await createBatch(world, { needsSecondPerson: true });
      const sql = 'UPDATE payout_batches SET second_person_until = clock_timestamp() WHERE id = ?';
      await world.db.query(sql, [batch.id]);
      await batch.handle.signal('wake');
      return batch;
    },
  },
  {
    name: 'schedule-run',
    start: async (world) => {
      const caller = await createCaller(world, 'test', 'USDT', false);
      const answer = await world.payoutSchedules.create(caller, {
        idempotencyKey: randomBytes(12).toString('hex'),
        reference: `schedule-${randomBytes(8).toString('hex')}`,
        ...{ description: null, cron: null, timeZone: null, intervalSeconds: 5 },
        ...{ startAt: null, endAt: null },
        rows: buildRows(2),
      });
      const scheduleId = idOf(answer);
      await world.temporal.workflow.start(WORKFLOWS.payoutSchedules, {
        workflowId: `schedules-${scheduleId}`,
        taskQueue: TASK_QUEUES.payouts,
      });
      const run = await waitFor('a run', async () => {
        const { items } = await listScheduleRuns(world.db, scheduleId, { limit: 1, after: null });
        return items[0];
      });
      await world.payoutSchedules.change(caller, scheduleId, 'end');
      const id = runWorkflowId(scheduleId, run.scheduledFor);
      return { id, caller, handle: world.temporal.workflow.getHandle(id) };
    },
  },
];
