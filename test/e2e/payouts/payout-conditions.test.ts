/** Payouts that wait for conditions (decisions/payouts#payout-conditions), over HTTP on real PostgreSQL and Temporal. */
import { PAYMENT_REFUNDED } from '../../../src/domain/payout';
import {
  buildPayout,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import {
  acceptedPayout,
  approve,
  balanceOf,
  cancel,
  type MerchantWish,
  openMerchant,
  openWithTwoKeys,
  read,
  release,
  whenFinal,
  whenPayout,
} from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { useSharedGateway, isSound } from '../../support/servers/gateway';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { openedPayment } from '../../support/payment/payment-steps';
import { readPage } from '../../support/workflow-page';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(useSharedGateway, isSound);

const ALL = { available: '20000.00000000', reserved: '0.00000000' };

const openWithSecondKey = (wish?: MerchantWish) => openWithTwoKeys(gateway, wish);

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const inAnHour = () => inMs(3_600_000);

async function eventsOf(id: string): Promise<string[]> {
  const found = await gateway.db.query<{ type: string }>(
    'SELECT type FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );
  return found.map(({ type }) => type);
}

/** A busy machine may need longer for the request than the time is away. */
async function createSoonEnough(client: MerchantClient) {
  for (let leadMs = 3_000; ; leadMs *= 3) {
    const at = inMs(leadMs);
    const created = await client.createPayout(buildPayout({ release: { at } }));
    if (created.status === 201 || leadMs > 60_000) return { at, created };
  }
}

/** Moves the end of a payout's wait to the present, and tells its workflow to look. */
async function expireNow(id: string): Promise<void> {
  await gateway.db.query('UPDATE payouts SET release_expires_at = now() WHERE id = ?', [id]);
  await gateway.temporal.workflow.getHandle(id).signal('wake');
}

test.concurrent(
  'a payout waits for its time with its funds reserved, and is sent then',
  async () => {
    const { client } = await openMerchant(gateway, { mode: 'test' });
    const { at, created } = await createSoonEnough(client);
    expect(created.json.data).toMatchObject({
      status: 'requested',
      release: {
        conditions: [{ type: 'time', at, met_at: null }],
        expires_at: null,
        released_at: null,
        expired_at: null,
      },
    });
    const { id, total_debit } = created.json.data;
    expect(await balanceOf(client)).toMatchObject({ reserved: total_debit });
    const sent = await whenFinal(client, id);
    expect(sent).toMatchObject({ status: 'completed' });
    const [{ met_at }] = sent.release.conditions;
    expect(met_at >= at && sent.release.released_at >= at).toBe(true);
    expect(await readBookEntry(gateway.sandbox.url, id)).toMatchObject({ times_sent: 1 });
    expect(await eventsOf(id)).toEqual([
      'payout.requested',
      'payout.approved',
      'payout.processing',
      'payout.completed',
    ]);
  },
);

test.concurrent(
  'another key releases a payout, and its repeated release changes nothing [endpoint POST /payouts/{id}/release]',
  async () => {
    const { client, second, secondKey } = await openWithSecondKey({ mode: 'test' });
    const id = await acceptedPayout(client, { release: { approval_by_key: secondKey } });
    expect(await release(client, id)).toMatchObject({
      status: 403,
      json: { error: { code: 'release_not_allowed', details: { api_key: secondKey } } },
    });
    const answer = await release(second, id);
    expect(answer).toMatchObject({
      status: 200,
      json: {
        data: { release: { conditions: [{ type: 'approval', met_at: expect.any(String) }] } },
      },
    });
    expect((await release(second, id)).status).toBe(200);
    expect(await whenFinal(client, id)).toMatchObject({ status: 'completed' });
    expect((await release(second, id)).status).toBe(200);
  },
);

test.concurrent('a payout under review keeps waiting after its approval', async () => {
  const { client, second, secondKey } = await openWithSecondKey();
  const id = await acceptedPayout(client, { release: { approval_by_key: secondKey } });
  expect(await read(client, id)).toMatchObject({ status: 'under_review' });
  await approve(gateway, id);
  await whenPayout(client, id, 'requested');
  expect(await readBookEntry(gateway.sandbox.url, id)).toBeUndefined();
  expect((await release(second, id)).status).toBe(200);
  expect(await whenFinal(client, id)).toMatchObject({ status: 'completed' });
  expect(await eventsOf(id)).toEqual([
    'payout.requested',
    'payout.requested',
    'payout.approved',
    'payout.processing',
    'payout.completed',
  ]);
});

const openCompleted = (client: MerchantClient) =>
  openedPayment(client, { amount: '25', metadata: { scenario: 'completed' } });

test.concurrent('a completed payment releases the payout that waits for it', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const payment = await openCompleted(client);
  const id = await acceptedPayout(client, { release: { after_payment: payment } });
  expect(await whenFinal(client, id)).toMatchObject({
    status: 'completed',
    release: { conditions: [{ type: 'payment', payment }] },
  });
});

test.concurrent('a payout fails whose payment was completed and then refunded', async () => {
  const { client, secondKey, second } = await openWithSecondKey({ mode: 'test' });
  const payment = await openCompleted(client);
  const wish = { release: { after_payment: payment, approval_by_key: secondKey } };
  const id = await acceptedPayout(client, wish);
  await waitFor('the payment to be met', async () => {
    const conditions: { met_at: string | null }[] = (await read(client, id)).release.conditions;
    return conditions.some((one) => one.met_at !== null);
  });
  const refunded = await client.create(`/payments/${payment}/refunds`, { reference: randomKey() });
  expect(refunded.status).toBe(201);
  await release(second, id);
  expect(await whenFinal(client, id)).toMatchObject({
    status: 'failed',
    failure_reason: PAYMENT_REFUNDED,
  });
  const again = await client.createPayout(buildPayout({ release: { after_payment: payment } }));
  expect([again.status, again.json.error.details.fields]).toMatchObject([
    422,
    [{ field: 'release.after_payment', rule: 'unsupported' }],
  ]);
});

test.concurrent('a payout that is not released in time returns its funds', async () => {
  const { client } = await openMerchant(gateway);
  const id = await acceptedPayout(client, {
    release: { at: inAnHour(), expires_at: inMs(7_200_000) },
  });
  await expireNow(id);
  const ended = await whenFinal(client, id);
  expect(ended).toMatchObject({
    status: 'cancelled',
    release: { released_at: null, expired_at: expect.any(String) },
  });
  expect(await balanceOf(client)).toMatchObject(ALL);
});

test.concurrent('a payout that waits is cancelled with everything returned', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const id = await acceptedPayout(client, { release: { at: inAnHour() } });
  expect(await cancel(client, id)).toMatchObject({
    status: 200,
    json: { data: { status: 'cancelled', release: { released_at: null, expired_at: null } } },
  });
  expect(await balanceOf(client)).toMatchObject(ALL);
  await waitFor('the workflow to end', async () => {
    const { status } = await gateway.temporal.workflow.getHandle(id).describe();
    return status.name === 'COMPLETED' ? true : undefined;
  });
});

test.concurrent(
  'of a release, a cancel and the expiry at once exactly one wins, each time',
  async () => {
    const { client, second, secondKey } = await openWithSecondKey({ mode: 'test' });
    const rounds = scaled(6, 120);
    const ends: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const id = await acceptedPayout(client, {
        amount: '10',
        release: { approval_by_key: secondKey, expires_at: inAnHour() },
      });
      // The time in which every payout can be cancelled is over, so that the release decides at once.
      const past = `UPDATE payouts SET created_at = created_at - interval '1 minute' WHERE id = ?`;
      await gateway.db.query(past, [id]);
      // Each is given the start in turn; the expiry takes part in every third round.
      const acts = [() => release(second, id), () => cancel(client, id)];
      if (round % 2 === 1) acts.reverse();
      const both = acts.map((act) => act());
      if (round % 3 === 2) await expireNow(id).catch(() => undefined);
      await Promise.all(both);
      const ended = await whenFinal(client, id);
      const sent = await readBookEntry(gateway.sandbox.url, id);
      expect([ended.status, sent?.times_sent ?? 0, ended.release.released_at !== null]).toEqual(
        ended.status === 'completed' ? ['completed', 1, true] : ['cancelled', 0, false],
      );
      const final = (await eventsOf(id)).filter((type) => /approved|cancelled/.test(type));
      expect(final.length).toBe(1);
      ends.push(ended.status);
    }
    const sent = ends.filter((end) => end === 'completed').length;
    const left = (20_000 - sent * 11.1).toFixed(8);
    expect(await balanceOf(client)).toMatchObject({ available: left, reserved: '0.00000000' });
  },
);

test.concurrent('an operator’s signal does not replace a condition', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const id = await acceptedPayout(client, { release: { at: inAnHour() } });
  await approve(gateway, id);
  const handle = gateway.temporal.workflow.getHandle(id);
  await waitFor('the remark about the signal', async () => {
    const details = await readPage(handle);
    return details.includes('waits for its conditions') && details.includes('Waiting for:')
      ? details
      : undefined;
  });
  expect(await read(client, id)).toMatchObject({ status: 'requested' });
  expect((await cancel(client, id)).status).toBe(200);
});
