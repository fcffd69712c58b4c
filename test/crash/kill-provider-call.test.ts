/**
 * A worker is killed while it waits for a provider's answer: another worker goes on. The times are
 * printed; a lost worker is noticed by its missing heartbeats.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildProgram } from '../support/servers/child-program';
import { startGateway } from '../support/servers/gateway';
import { type MerchantClient, randomKey } from '../support/merchant/merchant-client';
import {
  atProvider,
  buildPayment,
  openedPayment,
  readPayment,
  whenPayment,
} from '../support/payment/payment-steps';
import { auditPayouts } from '../support/payout/payout-audit';
import { whenFinal } from './payout-status';
import { acceptedPayout, approve, openMerchant } from '../support/payout/payout-steps';
import { control, readBookEntry, readCheckoutEntry } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

const PROVIDER = { provider: 'onchain_provider', mode: 'live' } as const;
/** Longer than the test waits between the call and the kill. */
const PROVIDER_TIMEOUT_MS = 10_000;

const gateway = started(() => startGateway({ providerTimeoutMs: PROVIDER_TIMEOUT_MS }));
let other: ChildProgram;
let client: MerchantClient;
let accountId: string;

beforeAll(async () => {
  other = new ChildProgram('worker', gateway.env);
  ({ client, accountId } = await openMerchant(gateway));
});

afterEach(async () => {
  await other.stop();
  await gateway.worker.start();
});

/** @param act makes the only worker call the provider, which does not answer until the kill */
async function killDuring(act: () => Promise<unknown>): Promise<number> {
  await control(gateway.sandbox.url, 'outage', { ...PROVIDER, kind: 'hang' });
  await act();
  await other.start();
  await control(gateway.sandbox.url, 'outage', { ...PROVIDER, kind: null });
  await gateway.worker.kill();
  return performance.now();
}

function report(what: string, since: number): void {
  const seconds = ((performance.now() - since) / 1_000).toFixed(1);
  console.log(`${what}: ${seconds} s after the kill`);
}

test('during a submission: the payout is submitted once, and completes', async () => {
  const id = await acceptedPayout(client);
  const killedAt = await killDuring(async () => {
    await approve(gateway, id);
    await waitThroughFaults(`the submission of ${id}`, async () => {
      const sql = 'SELECT 1 FROM payouts WHERE id = ? AND submission_started_at IS NOT NULL';
      return (await gateway.db.query(sql, [id]))[0];
    });
  });
  await waitThroughFaults(`the provider to have ${id}`, () =>
    readBookEntry(gateway.sandbox.url, id),
  );
  report('submitted again', killedAt);
  expect(await whenFinal(gateway.db, id)).toBe('completed');
  expect(await readBookEntry(gateway.sandbox.url, id)).toMatchObject({ times_sent: 1 });
  expect(await auditPayouts(gateway)).toEqual([]);
});

test('during a check: the payment is checked again, and completes', async () => {
  const id = await openedPayment(client);
  await atProvider(gateway, id, 'pay', { then: 'stay' });
  await whenPayment(client, id, 'processing');
  const killedAt = await killDuring(async () => {
    // Its callback makes the worker ask the provider.
    await atProvider(gateway, id, 'confirm');
    await sleep(1_000);
    expect((await readPayment(client, id)).status).toBe('processing');
  });
  await whenPayment(client, id, 'completed');
  report('completed', killedAt);
});

test('after a checkout was opened, and the claim is given up: the checkout is cancelled', async () => {
  // The worker opens the checkout and then waits for this lock.
  const lock = await gateway.db.begin();
  await lock.query('LOCK TABLE payments IN SHARE MODE');
  const answer = client.createPayment(buildPayment(), randomKey());
  const claimed = await waitThroughFaults('the claim', async () => {
    const sql = `SELECT object_id FROM idempotency_keys
                  WHERE account_id = ? AND state = 'running' AND object_id LIKE 'pay\\_%'`;
    return (await gateway.db.query<{ objectId: string }>(sql, [accountId]))[0];
  });
  const checkout = () => readCheckoutEntry(gateway.sandbox.url, claimed.objectId);
  await waitThroughFaults('the checkout', checkout);
  await gateway.worker.kill();
  await gateway.db.query('DELETE FROM idempotency_keys WHERE object_id = ?', [claimed.objectId]);
  await lock.rollback();
  await other.start();
  await waitThroughFaults(
    'the checkout to be cancelled',
    async () => (await checkout())?.state === 'cancelled',
  );
  expect((await answer).status).not.toBe(201);
  expect(await gateway.db.query('SELECT 1 FROM payments WHERE id = ?', [claimed.objectId])).toEqual(
    [],
  );
});
