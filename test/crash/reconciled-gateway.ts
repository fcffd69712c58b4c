/** A gateway whose statements of providers a test compares with ours, and what happens at the providers. */
import { randomBytes } from 'node:crypto';
import { SCENARIOS, type ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import type { MerchantClient } from '../support/merchant/merchant-client';
import { atProvider } from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant } from '../support/payout/payout-steps';
import { waitThroughFaults } from '../support/wait-for';
import { startGateway, type TestGateway } from '../support/servers/gateway';
import { control, readBookEntry } from '../support/servers/sandbox';

/** With a merchant, whose client is of the test mode. */
export async function startReconciledGateway() {
  const gateway = await startGateway();
  // Some differences are rows without postings, which the check would call a broken ledger.
  await gateway.temporal.schedule.getHandle('ledger-check').pause();
  const { client, accountId } = await openMerchant(gateway, { mode: 'test' });
  return { ...gateway, client, accountId };
}

interface Compared {
  troubles: string[];
  asked: number;
  told: number;
  noted: number;
}

/** What the schedule does every hour. @param lookMs how long payments have for a look */
export async function compare({ temporal }: TestGateway, lookMs = 1_000): Promise<Compared> {
  return temporal.workflow.execute(WORKFLOWS.reconciliation, {
    workflowId: `statements-${randomBytes(6).toString('hex')}`,
    taskQueue: TASK_QUEUES.payouts,
    args: [lookMs],
  });
}

/** The kinds of the cases about an object. */
export async function casesOf({ db }: TestGateway, objectId: string): Promise<string[]> {
  const sql = 'SELECT kind FROM cases WHERE object_id = ? ORDER BY created_at';
  return (await db.query<{ kind: string }>(sql, [objectId])).map(({ kind }) => kind);
}

export function scenarioPayout(
  client: MerchantClient,
  scenario: ScenarioName,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  return acceptedPayout(client, { amount: `10.0000${SCENARIOS[scenario].code}`, ...overrides });
}

export const BY_EXCHANGE = {
  network: null,
  destination: { type: 'exchange_id', value: '123456789' },
};

/** From here on nothing but the statements tells of what happens there. */
export async function silenceCallbacks({ sandbox }: TestGateway): Promise<void> {
  await control(sandbox.url, 'settings', { callback_base_url: null });
}

/** An order of somebody who has our key, under a reference of their choice. */
async function orderAtProvider(
  gateway: TestGateway,
  path: string,
  members: Record<string, unknown>,
): Promise<void> {
  const response = await fetch(`${gateway.sandbox.onchainUrl}/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.env['ONCHAIN_TEST_API_KEY'] ?? ''}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ asset: 'USDT', network: 'tron', ...members }),
  });
  if (response.status !== 201) throw new Error(`${path}: ${response.status}`);
}

export async function sendAtProvider(
  gateway: TestGateway,
  reference: string,
  amount = '10',
): Promise<void> {
  const destination = { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', memo: null };
  const order = { client_reference: reference, amount, destination };
  await orderAtProvider(gateway, 'transfers', order);
  await whenSent(gateway, reference);
}

export async function whenSent({ sandbox }: TestGateway, reference: string): Promise<void> {
  await waitThroughFaults(`${reference} to be sent`, async () => {
    const entry = await readBookEntry(sandbox.url, reference);
    return entry?.status === 'sent';
  });
}

/** 5 USDT in a checkout that no workflow of ours looks at. */
export async function payUnasked(gateway: TestGateway, reference: string): Promise<void> {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const order = { client_reference: reference, expires_at, amount: '5' };
  await orderAtProvider(gateway, 'checkouts', order);
  await atProvider(gateway, reference, 'pay', { at: new Date().toISOString() });
}

/** Moves the times: the provider showed it two hours ago, and nothing since. */
export async function age({ db }: TestGateway, reference: string): Promise<void> {
  const sql = `UPDATE provider_entries SET changed_at = changed_at - interval '2 hours' WHERE reference = ?`;
  await db.query(sql, [reference]);
}
