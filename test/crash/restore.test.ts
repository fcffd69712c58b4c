/**
 * The restores of docs/operations.md, "After a restore": PostgreSQL to an earlier time than
 * Temporal, Temporal to an earlier time than PostgreSQL, and Temporal empty. Every payout goes on
 * from its row and is sent once; a transfer whose payout was lost becomes a case.
 */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { withClient } from '../../src/db/provision';
import { SCENARIOS, type ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import { ChildProgram } from '../support/servers/child-program';
import { brokenInvariants, createNamespace, startGateway } from '../support/servers/gateway';
import { createMerchant, fund } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts } from '../support/payout/payout-audit';
import { whenFinal, whenStatus } from './payout-status';
import { control, readBookEntry } from '../support/servers/sandbox';
import { placeOf, temporalCommand } from '../support/servers/temporal-command';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';
import { readPage } from '../support/workflow-page';

const gateway = started(startGateway);
let client: PatientClient;

beforeAll(async () => {
  const { accountId, liveKey } = await createMerchant(gateway.db, gateway.pepper);
  await fund(gateway.db, accountId, 'live', 'USDT', '1000.00000000');
  client = new PatientClient(gateway.baseUrl, liveKey);
});

/** Under review: nothing happens before it is approved. */
async function createPayout(scenario: ScenarioName = 'sends'): Promise<string> {
  const amount = `10.0000${SCENARIOS[scenario].code}`;
  return (await client.createPayout(buildPayout({ amount }))).id;
}

/** Again until a workflow takes it: it may only be about to be started. */
async function approve(id: string): Promise<void> {
  await waitThroughFaults(`a workflow to take the approval of ${id}`, async () => {
    await gateway.temporal.workflow.getHandle(id).signal('approve', { by: 'alice' });
    return true;
  });
}

async function createProcessing(): Promise<string> {
  const id = await createPayout('never_settles');
  await approve(id);
  await whenStatus(gateway.db, id, 'processing');
  return id;
}

async function settle(id: string): Promise<void> {
  const transfer = { provider: 'onchain_provider', mode: 'live', client_reference: id };
  expect(await control(gateway.sandbox.url, 'transfers/settle', transfer)).toBe(200);
}

const SNAPSHOT = `snapshot_${randomBytes(6).toString('hex')}`;

/** Runs SQL as the superuser, without any connection to the gateway's database. */
async function onServer(...statements: string[]): Promise<void> {
  await withClient(process.env['TEST_POSTGRES_URL'] ?? '', async (server) => {
    for (const statement of statements) await server.query(statement);
  });
}

async function withoutConnections(work: (database: string) => Promise<void>): Promise<void> {
  await Promise.all([gateway.api.stop(), gateway.worker.stop()]);
  const database = new URL(gateway.database.ownerUrl).pathname.slice(1);
  await onServer(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
  );
  await work(database);
  await Promise.all([gateway.api.start(), gateway.worker.start()]);
}

function takeBackup(): Promise<void> {
  return withoutConnections((database) =>
    onServer(`create database ${SNAPSHOT} template ${database} strategy file_copy`),
  );
}

function restoreBackup(): Promise<void> {
  return withoutConnections((database) =>
    onServer(
      `drop database ${database} with (force)`,
      `alter database ${SNAPSHOT} rename to ${database}`,
    ),
  );
}

/** The sweep leaves rows alone for five minutes, and a backup is older than that. It runs at once. */
async function sweep(): Promise<void> {
  await gateway.db.query(`UPDATE payouts SET workflow_checked_at = now() - interval '1 hour'`);
  await temporalCommand(placeOf(gateway.env), 'schedule', 'trigger', '-s', 'restart-missing');
}

async function reconcile(): Promise<void> {
  await gateway.temporal.workflow.execute(WORKFLOWS.reconciliation, {
    workflowId: `reconciliation-${randomBytes(6).toString('hex')}`,
    taskQueue: TASK_QUEUES.payouts,
  });
}

test('PostgreSQL is restored to an earlier time than Temporal', async () => {
  const processing = await createProcessing();
  const reviewed = await createPayout();
  const waiting = await createPayout();
  const running = await createPayout('never_settles');
  await takeBackup();

  await settle(processing);
  expect(await whenFinal(gateway.db, processing)).toBe('completed');
  await approve(reviewed);
  expect(await whenFinal(gateway.db, reviewed)).toBe('completed');
  await approve(running);
  await whenStatus(gateway.db, running, 'processing');
  const lost = await createPayout();
  await approve(lost);
  expect(await whenFinal(gateway.db, lost)).toBe('completed');
  const lostWaiting = await createPayout();

  await restoreBackup();
  await sweep();
  // Its workflow has completed; the row is processing again, and the provider has sent it.
  expect(await whenFinal(gateway.db, processing)).toBe('completed');
  // Sent and under review again: the same order under the same id returns the same transfer.
  await approve(reviewed);
  expect(await whenFinal(gateway.db, reviewed)).toBe('completed');
  // Its workflow runs and has seen a later status than the row has.
  await waitThroughFaults('the workflow to follow the row', async () => {
    const handle = gateway.temporal.workflow.getHandle(running);
    return (await readPage(handle)).includes('must approve or reject');
  });
  await approve(running);
  await whenStatus(gateway.db, running, 'processing');
  await settle(running);
  expect(await whenFinal(gateway.db, running)).toBe('completed');
  await approve(waiting);
  expect(await whenFinal(gateway.db, waiting)).toBe('completed');
  // What the merchant was told exists is gone; its workflow fails instead of retrying for ever.
  await gateway.temporal.workflow.getHandle(lostWaiting).signal('approve', { by: 'alice' });
  const lostResult = gateway.temporal.workflow.getHandle(lostWaiting).result();
  await expect(lostResult).rejects.toThrow('Workflow execution failed');

  await reconcile();
  const transfer = await readBookEntry(gateway.sandbox.url, lost);
  const cases = 'SELECT kind, object_id, details FROM cases ORDER BY kind';
  expect(await gateway.db.query(cases)).toMatchObject([
    { kind: 'row_missing', objectId: lostWaiting },
    { kind: 'unknown_transfer', details: { reference: lost } },
  ]);
  expect(transfer).toMatchObject({ times_sent: 1 });
  const unknown = [`the provider has ${lost}, which we do not know`];
  expect(await auditPayouts(gateway, [], unknown)).toEqual(unknown);
  for (const id of [processing, reviewed, waiting, running]) {
    expect(await readBookEntry(gateway.sandbox.url, id)).toMatchObject({ times_sent: 1 });
  }
});

test('Temporal is restored to an earlier time than PostgreSQL', async () => {
  const processing = await createProcessing();
  const completed = await createPayout();
  const rejected = await createPayout();
  await approve(completed);
  expect(await whenFinal(gateway.db, completed)).toBe('completed');
  await gateway.temporal.workflow.getHandle(rejected).signal('reject', { by: 'bob' });
  expect(await whenFinal(gateway.db, rejected)).toBe('rejected');
  // Temporal knows only the first step of each now.
  for (const id of [processing, completed, rejected]) {
    const args = ['reset', '--type', 'FirstWorkflowTask', '--reason', 'a restore', '-w', id];
    await temporalCommand(placeOf(gateway.env), 'workflow', ...args);
  }
  await settle(processing);
  expect(await whenFinal(gateway.db, processing)).toBe('completed');
  for (const id of [completed, rejected]) {
    await gateway.temporal.workflow.getHandle(id).result();
  }
  expect(await brokenInvariants(gateway)).toEqual([]);
  for (const [id, times] of [
    [processing, 1],
    [completed, 1],
    [rejected, 0],
  ] as const) {
    const entry = await readBookEntry(gateway.sandbox.url, id);
    expect(entry?.times_sent ?? 0).toBe(times);
  }
});

test('Temporal starts empty', async () => {
  const processing = await createProcessing();
  const reviewed = await createPayout();
  await Promise.all([gateway.api.stop(), gateway.worker.stop()]);
  const namespace = `restored-${randomBytes(6).toString('hex')}`;
  const connection = await createNamespace(gateway.env['TEMPORAL_ADDRESS'] ?? '', namespace);
  const env = { ...gateway.env, TEMPORAL_NAMESPACE: namespace };
  const api = new ChildProgram('api', env);
  const worker = new ChildProgram('worker', env);
  const { stop } = gateway;
  Object.assign(gateway, {
    env,
    api,
    worker,
    temporal: new Client({ connection, namespace }),
    stop: async () => {
      await Promise.all([api.stop(), worker.stop()]);
      await connection.close();
      await stop();
    },
  });
  await Promise.all([gateway.api.start(), gateway.worker.start()]);
  await sweep();
  await settle(processing);
  expect(await whenFinal(gateway.db, processing)).toBe('completed');
  await approve(reviewed);
  expect(await whenFinal(gateway.db, reviewed)).toBe('completed');
  expect(await brokenInvariants(gateway)).toEqual([]);
  for (const id of [processing, reviewed]) {
    expect(await readBookEntry(gateway.sandbox.url, id)).toMatchObject({ times_sent: 1 });
  }
});
