/** Wallets whose sweeps are run by workflows, on a Temporal namespace of the test's own. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { startDurable } from '../../../src/rails/wallet/durable/workers';
import type { WalletParts } from '../../../src/rails/wallet/wallet';
import { writeHistory } from '../servers/workflow-world';

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

export function sweepDurably({
  namespace,
  client,
}: TestNamespace): NonNullable<WalletParts['sweep']> {
  const connect = () => NativeConnection.connect({ address: temporalAddress() });
  const workflowBundle = process.env['TEST_WALLET_WORKFLOW_BUNDLE'] ?? '';
  return (parts) => startDurable({ namespace, client, connect, workflowBundle }, parts);
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
