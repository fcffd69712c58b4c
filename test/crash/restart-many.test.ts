/**
 * Temporal lost the workflows of many payouts: they start again, and new payouts do not wait behind
 * them. The rate is printed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../support/servers/gateway';
import { insertPayouts } from '../support/merchant/listed-rows';
import { acceptedPayout, openMerchant } from '../support/payout/payout-steps';
import { scaled } from '../support/scale';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

const LOST = scaled(400, 3_000);

const gateway = started(startGateway);

beforeAll(async () => {
  // The payouts of this test have no postings: the check would pause all payouts.
  await gateway.temporal.schedule.getHandle('ledger-check').pause();
});

/** Payouts under review whose workflows are gone; they were last checked an hour ago. */
async function insertLost(accountId: string): Promise<void> {
  const at = new Date(Date.now() - 3_600_000).toISOString();
  const lost = Array.from({ length: LOST }, (_, index) => ({
    id: `po_${String(index).padStart(26, '0')}`,
    status: 'under_review' as const,
    provider: 'onchain_provider' as const,
    currency: 'USDT',
    at,
  }));
  await insertPayouts(gateway.db, { accountId, mode: 'live' }, lost);
  const sql = 'UPDATE payouts SET workflow_checked_at = created_at WHERE account_id = ?';
  await gateway.db.query(sql, [accountId]);
}

async function countStarted(): Promise<number> {
  const lost = `WorkflowType = 'payoutWorkflow' AND WorkflowId STARTS_WITH 'po_0000'`;
  return (await gateway.temporal.workflow.count(lost)).count;
}

test(`${LOST} workflows start again, while new payouts are accepted`, async () => {
  const { accountId, client } = await openMerchant(gateway);
  await insertLost(accountId);
  const firstAt = await waitThroughFaults('the first start', async () =>
    (await countStarted()) > 0 ? Date.now() : undefined,
  );
  const answersMs: number[] = [];
  let lastAt = 0;
  const watch = waitThroughFaults(
    'all starts',
    async () => ((await countStarted()) === LOST ? (lastAt = Date.now()) : undefined),
    scaled(300_000, 900_000),
  );
  while (lastAt === 0) {
    const startedAt = Date.now();
    await acceptedPayout(client);
    answersMs.push(Date.now() - startedAt);
    await Promise.race([watch, sleep(500)]);
  }
  const slowest = Math.max(...answersMs);
  const perSecond = Math.round((LOST * 1_000) / (lastAt - firstAt));
  console.log(`${LOST} starts, ${perSecond}/s; slowest of ${answersMs.length} POST: ${slowest} ms`);
  expect(await countStarted()).toBe(LOST);
  expect(answersMs.length).toBeGreaterThan(0);
});
