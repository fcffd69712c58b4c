/** Conditions of payouts over HTTP: which are refused, and what a payout without any says. */
import { newId } from '../../../src/platform/lib/new-id';
import { buildPayout } from '../../support/merchant/merchant-client';
import { openedPayment } from '../../support/payment/payment-steps';
import {
  acceptedPayout,
  addKey,
  balanceOf,
  cancel,
  type MerchantWish,
  type MerchantWithTwoKeys,
  openMerchant,
  openWithTwoKeys,
  read,
  release,
  setKey,
} from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(startDirectGateway, isSound);

const ALL = { available: '20000.00000000', reserved: '0.00000000' };

const openWithSecondKey = (wish?: MerchantWish) => openWithTwoKeys(gateway, wish);

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const inAnHour = () => inMs(3_600_000);

type Wish = (merchant: MerchantWithTwoKeys) => object | Promise<object>;

/** Another key of the account, changed as in `sql`. */
const keyThat =
  (sql: string): Wish =>
  async ({ accountId }) => {
    const { secondKey } = await addKey(gateway, { accountId, mode: 'live' });
    await setKey(gateway, secondKey, sql);
    return { approval_by_key: secondKey };
  };

/** A year has 366 days here. */
const inDays = (days: number) => inMs(days * 86_400_000);

test.concurrent.each<[what: string, field: string, rule: string, wish: Wish]>([
  ['nothing', 'release', 'required', () => ({})],
  ['an end alone', 'release', 'required', () => ({ expires_at: inAnHour() })],
  ['a past time', 'release.at', 'out_of_range', () => ({ at: inMs(-1_000) })],
  ['a time in more than a year', 'release.at', 'out_of_range', () => ({ at: inDays(367) })],
  ['a word for a time', 'release.at', 'format', () => ({ at: 'tomorrow' })],
  ['a day that does not exist', 'release.at', 'format', () => ({ at: '2027-02-30T00:00:00Z' })],
  [
    'an end before the time',
    'release.expires_at',
    'out_of_range',
    () => ({ at: inDays(1), expires_at: inAnHour() }),
  ],
  [
    'a past end',
    'release.expires_at',
    'out_of_range',
    () => ({ at: inAnHour(), expires_at: inMs(-1_000) }),
  ],
  [
    'an end in more than a year',
    'release.expires_at',
    'out_of_range',
    () => ({ at: inAnHour(), expires_at: inDays(367) }),
  ],
  [
    'an unknown payment',
    'release.after_payment',
    'not_found',
    () => ({ after_payment: newId('payment') }),
  ],
  ['no id of a payment', 'release.after_payment', 'format', () => ({ after_payment: 'pay_1' })],
  [
    'a payment of test mode',
    'release.after_payment',
    'not_found',
    async ({ otherMode }) => ({ after_payment: await openedPayment(otherMode) }),
  ],
  [
    'a payment of another account',
    'release.after_payment',
    'not_found',
    async () => ({ after_payment: await openedPayment((await openMerchant(gateway)).client) }),
  ],
  [
    'an unknown key',
    'release.approval_by_key',
    'not_found',
    () => ({ approval_by_key: newId('apiKey') }),
  ],
  [
    'the key of the request',
    'release.approval_by_key',
    'unsupported',
    ({ secondKey }) => ({ approval_by_key: secondKey }),
  ],
  [
    'a key of test mode',
    'release.approval_by_key',
    'not_found',
    async ({ accountId }) => ({
      approval_by_key: (await addKey(gateway, { accountId, mode: 'test' })).secondKey,
    }),
  ],
  [
    'a key of another account',
    'release.approval_by_key',
    'not_found',
    async () => ({ approval_by_key: (await openWithSecondKey()).secondKey }),
  ],
  ['a revoked key', 'release.approval_by_key', 'not_found', keyThat(`revoked_at = now()`)],
  [
    'an expired key',
    'release.approval_by_key',
    'not_found',
    keyThat(`expires_at = now() - interval '1 second'`),
  ],
  [
    'a key that only reads',
    'release.approval_by_key',
    'not_found',
    keyThat(`scopes = '{payouts:read}'`),
  ],
  ['an unknown condition', 'release.when', 'unsupported', () => ({ at: inAnHour(), when: 'now' })],
])('a payout that waits for %s is refused, with %s as %s', async (_what, field, rule, wish) => {
  const merchant = await openWithSecondKey();
  const { second } = merchant;
  const answer = await second.createPayout(buildPayout({ release: await wish(merchant) }));
  expect(answer.status).toBe(422);
  expect(answer.json.error.details.fields).toEqual([
    { field, rule, message: expect.stringMatching(/\.$/) },
  ]);
  expect(await balanceOf(second)).toMatchObject(ALL);
});

test.concurrent('a payout may wait for a year', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const id = await acceptedPayout(client, { release: { at: inDays(365.9) } });
  expect((await cancel(client, id)).status).toBe(200);
});

test.concurrent(
  'a payout without conditions has no release, and nobody can release it',
  async () => {
    const { client } = await openMerchant(gateway);
    const id = await acceptedPayout(client);
    expect(await read(client, id)).not.toHaveProperty('release');
    expect(await release(client, id)).toMatchObject({
      status: 409,
      json: { error: { code: 'invalid_state' } },
    });
  },
);
