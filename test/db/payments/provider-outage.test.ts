/** A provider without an answer is asked again soon: the end of its outage is not known before. */
import { checkPayment } from '../../../activities/payment/check';
import { checkPayout } from '../../../activities/payout/provider';
import { buildPayoutMoney, insertPayout, makeAccount } from '../../support/merchant/ledger';
import { openPayment, startPaymentWorld } from '../payment-world';
import { control } from '../../support/servers/sandbox';
import { started } from '../../support/started';

const MINUTE_MS = 60_000;
const OLD_MS = 8 * MINUTE_MS;

const world = started(startPaymentWorld);

const setOutage = async (kind: 'answer_503' | null): Promise<void> => {
  for (const provider of ['onchain_provider', 'exchange_pay']) {
    const outage = { provider, mode: 'test', kind };
    expect(await control(world.sandboxUrl, 'outage', outage)).toBe(200);
  }
};

test('a payout', async () => {
  await setOutage('answer_503');
  const accountId = await makeAccount(world.db);
  const payout = buildPayoutMoney('10');
  const place = { accountId, mode: 'test', currency: 'USDT' } as const;
  const old = { processing_since: new Date(Date.now() - OLD_MS) };
  await insertPayout(world.db, place, payout, 'processing', old);
  const { wait } = await checkPayout(world, payout.id);
  expect(wait?.why).toMatch('Waiting for the provider to answer');
  expect(wait?.ms).toBe(MINUTE_MS);
});

test('a payment', async () => {
  await setOutage(null);
  const { id } = await openPayment(world);
  await setOutage('answer_503');
  await world.db.query(
    `UPDATE payments SET created_at = created_at - interval '8 minutes' WHERE id = ?`,
    [id],
  );
  const { wait } = await checkPayment(world, id);
  expect(wait?.why).toBe('Waiting for the provider to answer.');
  expect(wait?.ms).toBe(MINUTE_MS);
});
