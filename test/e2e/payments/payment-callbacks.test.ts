/** Callbacks about payments, and providers that do not answer: one credit, and never a wrong one. */
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import { readSetting } from '../../../src/platform/settings/read-settings';
import { brokenInvariants, startGateway } from '../../support/servers/gateway';
import { randomKey } from '../../support/merchant/merchant-client';
import {
  atProvider,
  buildPayment,
  creditsOf,
  eventsOf,
  openedPayment,
  readPayment,
  signalsOf,
  whenPayment,
} from '../../support/payment/payment-steps';
import { balanceOf, keyStates, openMerchant } from '../../support/payout/payout-steps';
import { type CheckoutEntry } from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import {
  type Callback,
  callbackSecret,
  deliverCallback,
  PAYMENT_CLAIMS,
} from '../../support/servers/provider-callbacks';
import type { Mode } from '../../../src/domain/mode';
import { type Outage, setOutage } from '../../support/servers/sandbox';

/** The time-out is the default one: a provider that hangs must not be taken for a fault of ours. */
const gateway = started(
  sharedInRoom('gateway', () =>
    startGateway({ providerTimeoutMs: readSetting('ONCHAIN_TEST_TIMEOUT_MS', {}) }),
  ),
);

const secretOf = (provider: ProviderCode, mode: Mode) => callbackSecret(gateway, provider, mode);
const deliver = (provider: ProviderCode, mode: Mode, callback: Callback) =>
  deliverCallback(gateway, `${provider}/${mode}`, callback);

const openTestMerchant = () => openMerchant(gateway, { mode: 'test', funds: {} });

/** A payment in processing: all of it is seen, and nothing is confirmed by itself. */
async function seenPayment(provider: ProviderCode) {
  const merchant = await openTestMerchant();
  const id = await openedPayment(merchant.client, { provider });
  await atProvider(gateway, id, 'pay', { then: 'stay' });
  await whenPayment(merchant.client, id, 'processing');
  return { ...merchant, id };
}

describe.each(PROVIDER_CODES)('callbacks of %s', (provider) => {
  const authentic = (id: string) => PAYMENT_CLAIMS[provider](id, secretOf(provider, 'test'));

  test.concurrent(
    'repeated, in parallel and lying, they make one credit of what the provider says',
    async () => {
      const { client, id } = await seenPayment(provider);
      // A provider sends a callback again that a busy gateway has not taken.
      const untilTaken = () =>
        waitFor('a callback to be taken', async () => {
          const { status } = await deliver(provider, 'test', authentic(id));
          return status === 503 ? undefined : status;
        });
      const flood = () => Promise.all(Array.from({ length: 12 }, untilTaken));
      expect(await flood()).toEqual(Array(12).fill(200));
      expect(await readPayment(client, id)).toMatchObject({
        status: 'processing',
        net_amount: null,
      });

      await Promise.all([flood(), atProvider(gateway, id, 'confirm'), flood()]);
      const paid = await whenPayment(client, id, 'completed');
      await flood();
      await atProvider(gateway, id, 'resend-callback');
      expect(await creditsOf(gateway, id)).toMatchObject([{ amount: '100.00000000' }]);
      expect((await eventsOf(gateway, id)).map(({ type }) => type)).toEqual(
        expect.arrayContaining(['payment.created', 'payment.processing', 'payment.completed']),
      );
      // Their workflows come to rest, and the payment is as it was.
      await waitFor('the workflow to end', async () => {
        const { status } = await gateway.temporal.workflow.getHandle(id).describe();
        return status.name === 'COMPLETED';
      });
      expect(await readPayment(client, id)).toEqual(paid);
      expect(await balanceOf(client)).toMatchObject({ available: '99.00000000' });
      expect(await brokenInvariants(gateway)).toEqual([]);
    },
  );
});

const outage = (kind: Outage, provider: ProviderCode = 'onchain_provider') =>
  setOutage(gateway, provider, 'test', kind);

async function checkoutsWithoutPayment(): Promise<CheckoutEntry[]> {
  const response = await fetch(`${gateway.sandbox.url}/sandbox/book`);
  const { checkouts } = (await response.json()) as { checkouts: CheckoutEntry[] };
  const known = await gateway.db.query<{ id: string }>('SELECT id FROM payments', []);
  const ids = new Set(known.map(({ id }) => id));
  return checkouts.filter((one) => !ids.has(one.client_reference));
}

describe.each<[kind: Outage, reason: string, retryAfter: string]>([
  ['answer_503', 'provider_unavailable', '10'],
  ['hang', 'provider_unavailable', '10'],
  ['refuse', 'provider_unavailable', '10'],
  ['lose_answer', 'provider_unavailable', '10'],
  ['answer_429', 'provider_rate_limited', '1'],
])('a provider that is down: %s', (kind, reason, retryAfter) => {
  afterEach(() => outage(null));

  test('no payment is opened, and the same key opens it afterwards', async () => {
    const { client, accountId } = await openTestMerchant();
    const key = randomKey();
    const body = buildPayment();
    await outage(kind);
    const refused = await client.createPayment(body, key);
    expect(refused).toMatchObject({
      status: 503,
      json: {
        error: { code: 'service_unavailable', details: { reason } },
      },
    });
    expect(refused.headers.get('retry-after')).toBe(retryAfter);
    expect((await client.get('/payments')).json.data).toEqual([]);
    expect(await keyStates(gateway, accountId)).toEqual({});
    const stored = await gateway.db.query('SELECT id FROM events WHERE account_id = ?', [
      accountId,
    ]);
    expect(stored).toEqual([]);

    await outage(null);
    const opened = await client.createPayment(body, key);
    expect(opened).toMatchObject({ status: 201, json: { data: { status: 'created' } } });
    const again = await client.createPayment(body, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([opened.text, 'true']);
    expect((await client.get('/payments')).json.data).toHaveLength(1);
    await waitFor('the unused checkout to be cancelled', async () =>
      (await checkoutsWithoutPayment()).every(({ state }) => state === 'cancelled'),
    );
  });
});

test('money for a completed payment is not forgotten when the provider is silent just then', async () => {
  const { client } = await openTestMerchant();
  const id = await openedPayment(client);
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  await waitFor('the workflow to end', async () => {
    const { status } = await gateway.temporal.workflow.getHandle(id).describe();
    return status.name === 'COMPLETED';
  });
  await outage('answer_503');
  await atProvider(gateway, id, 'pay', { amount: '10', at: new Date().toISOString() });
  await waitFor('the callback', async () => (await signalsOf(gateway, id)).length > 0);
  await waitFor('the vain question', async () => {
    const { events } = await gateway.temporal.workflow.getHandle(id).fetchHistory();
    // The calls of openPayment and checkPayment; a fast answer is that of a local activity.
    const answered = (events ?? []).filter(
      (one) => one.activityTaskCompletedEventAttributes ?? one.markerRecordedEventAttributes,
    );
    return answered.length >= 2;
  });
  await outage(null);
  await waitFor(
    'the credit',
    async () => (await readPayment(client, id)).net_amount === '108.90000000',
  );
  expect(await creditsOf(gateway, id)).toHaveLength(2);
});

test('what the provider calls about while it is being asked is asked about again', async () => {
  const { client } = await openTestMerchant();
  const id = await openedPayment(client);
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  await waitFor('the workflow to end', async () => {
    const { status } = await gateway.temporal.workflow.getHandle(id).describe();
    return status.name === 'COMPLETED';
  });
  // The answer of before the second transfer waits for the payment's row.
  await gateway.db.transaction(async (tx) => {
    await tx.query('SELECT id FROM payments WHERE id = ? FOR UPDATE', [id]);
    await atProvider(gateway, id, 'resend-callback');
    await waitFor('the answer to wait', async () => {
      const waiting = await gateway.db.query(
        `SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await atProvider(gateway, id, 'pay', { amount: '10', at: new Date().toISOString() });
    await waitFor('the second callback', async () => (await signalsOf(gateway, id)).length === 2);
  });
  await waitFor(
    'the credit',
    async () => (await readPayment(client, id)).net_amount === '108.90000000',
  );
});

test.concurrent(
  'more money for many completed payments at once is credited, each transfer once',
  async () => {
    const { client } = await openTestMerchant();
    const ids = await Promise.all(Array.from({ length: 12 }, () => openedPayment(client)));
    await Promise.all(ids.map((id) => atProvider(gateway, id, 'pay')));
    for (const id of ids) await whenPayment(client, id, 'completed');
    // Its confirmation is an update during the query about its arrival.
    await Promise.all(
      ids.map(async (id) => {
        await atProvider(gateway, id, 'pay', { amount: '10', then: 'stay' });
        await atProvider(gateway, id, 'confirm');
      }),
    );
    for (const id of ids) {
      await waitFor(
        `the second credit of ${id}`,
        async () => (await creditsOf(gateway, id)).length === 2,
      );
    }
    expect(await balanceOf(client)).toMatchObject({ available: '1306.80000000' });
    expect(await brokenInvariants(gateway)).toEqual([]);
  },
);
