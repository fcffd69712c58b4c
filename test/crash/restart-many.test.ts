/**
 * Temporal lost the workflows of many payouts: they start again, and new payouts do not wait behind
 * them. The rate is printed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { rows } from '../../src/db/transaction';
import { startGateway, type OwnGateway } from '../support/gateway';
import { buildPayout } from '../support/merchant-client';
import { waitLong } from '../support/patience';
import { openMerchant } from '../support/payout-steps';
import { scaled } from '../support/scale';

const LOST = scaled(400, 3_000);

let gateway: OwnGateway;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway.stop();
});

/** Payouts under review whose workflows are gone; they were last checked an hour ago. */
async function insertLost(accountId: string): Promise<void> {
  await rows(
    gateway.db,
    `INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency,
                          network, destination_type, destination_value, service_fee, network_fee,
                          total_debit, fee_terms, api_key_id, review_reasons, created_at,
                          workflow_checked_at)
     SELECT 'po_' || lpad(n::text, 26, '0'), ?, 'live', 'lost-' || n, 'under_review',
            'onchain_provider', 10, 'USDT', 'tron', 'crypto_address',
            'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 0, 0, 10, '{}', 'key', '{}',
            now() - interval '1 hour', now() - interval '1 hour'
       FROM generate_series(1, ?) AS n`,
    [accountId, LOST],
  );
}

async function countStarted(): Promise<number> {
  const lost = `WorkflowType = 'payoutWorkflow' AND WorkflowId STARTS_WITH 'po_0000'`;
  return (await gateway.temporal.workflow.count(lost)).count;
}

test(`${LOST} workflows start again, while new payouts are accepted`, async () => {
  const { accountId, client } = await openMerchant(gateway);
  await insertLost(accountId);
  const firstAt = await waitLong('the first start', async () =>
    (await countStarted()) > 0 ? Date.now() : undefined,
  );
  const answers: { status: number; ms: number }[] = [];
  let lastAt = 0;
  const watch = waitLong('all starts', async () =>
    (await countStarted()) === LOST ? (lastAt = Date.now()) : undefined,
  );
  while (lastAt === 0) {
    const startedAt = Date.now();
    const { status } = await client.createPayout(buildPayout());
    answers.push({ status, ms: Date.now() - startedAt });
    await Promise.race([watch, sleep(500)]);
  }
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  const perSecond = Math.round((LOST * 1_000) / (lastAt - firstAt));
  console.log(`${LOST} starts, ${perSecond}/s; slowest of ${answers.length} POST: ${slowest} ms`);
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
});
