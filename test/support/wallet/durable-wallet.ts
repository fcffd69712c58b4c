/** Wallets that are driven by workflows, on a Temporal namespace of the test's own. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { writeHistory } from '../history-file';
import { startDurable } from '../../../src/rails/wallet/durable/workers';
import type { WalletParts } from '../../../src/rails/wallet/wallet';

export interface TestNamespace {
  namespace: string;
  client: Client;
  close: () => Promise<void>;
}

export async function createTestNamespace(): Promise<TestNamespace> {
  const namespace = `wallet-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address: temporalAddress() });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const client = new Client({ connection, namespace });
  return { namespace, client, close: () => connection.close() };
}

export function temporalAddress(): string {
  return process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
}

/** @param turns how often a chain's activity returns with a report, and when a new run begins */
export function driveDurably(
  { namespace, client }: TestNamespace,
  turns: { turnMs?: number; turnsMax?: number } = {},
): WalletParts['drive'] {
  const connect = () => NativeConnection.connect({ address: temporalAddress() });
  const workflowBundle = process.env['TEST_WALLET_WORKFLOW_BUNDLE'] ?? '';
  return (parts) => startDurable({ namespace, client, connect, workflowBundle, ...turns }, parts);
}

/** What an operator reads on the workflow's page. */
export async function readPage({ client }: TestNamespace, workflowId: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  const page = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return page.currentDetails ?? '';
}

export const WALLET_HISTORIES = join(__dirname, '../../fixtures/wallet-histories');

/** With UPDATE_HISTORIES=wallet: what wallet-replay.test.ts replays is made anew. */
export async function recordHistory(
  { client }: TestNamespace,
  workflowId: string,
  name: string,
  runId?: string,
): Promise<void> {
  if (process.env['UPDATE_HISTORIES'] !== 'wallet') return;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  writeHistory(WALLET_HISTORIES, name, history);
}
