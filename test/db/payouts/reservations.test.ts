/** Limits of a day under concurrency: each reservation decides by what those before it have taken. */
import type { Deps } from '../../../activities/deps';
import { checkPayment } from '../../../activities/payment/check';
import { post } from '../../../src/db/ledger/ledger';
import { listRefunds } from '../../../src/db/payments/payment-refunds';
import { lockUsage } from '../../../src/db/payouts/payout-facts';
import { reservePosting } from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import type { Tx } from '../../../src/db/transaction';
import { isSound } from '../../support/servers/gateway';
import { buildPayoutMoney, fund, fundedBalance, insertPayout } from '../../support/merchant/ledger';
import { atProvider, openPayment, type OpenedPayment, startPaymentWorld } from '../payment-world';
import {
  claimBatch,
  claimPayout,
  claimRefund,
  openKey,
  type Requester,
  setDailyLimit,
} from '../reserving-world';
import { whenWaiting } from '../lock-waits';
import { started } from '../../support/started';

const world = started(startPaymentWorld, isSound);

/** A payment of 100 that was credited, of an account that has 1,000 beside it. */
async function creditedPayment(): Promise<OpenedPayment> {
  const payment = await openPayment(world);
  const at = new Date().toISOString();
  expect(await atProvider(world, payment.id, 'pay', { amount: '100', at })).toBe(200);
  await checkPayment(world, payment.id);
  await fund(world.db, { ...payment, mode: 'test', currency: 'USDT' }, '1000');
  return payment;
}

type Reserve = (deps: Deps) => Promise<{ kind: string }>;

/** @returns the result of the reservation, which began while a payout of 60 took its part of the day */
async function reserveBeside(by: Requester, reserve: Reserve) {
  const key = { ...by, currency: 'USDT' };
  const first = await world.db.begin();
  lockUsage(first, key);
  const payout = buildPayoutMoney('60');
  await insertPayout(first, key, payout, 'approved', { api_key_id: by.apiKeyId });
  await post(first, key, reservePosting(payout));
  const second = reserve(world);
  await Promise.race([second, whenWaiting(world.db, 1)]);
  await first.commit();
  return second;
}

describe('a reservation that begins while another one takes the rest of the day', () => {
  test.each<[string, (by: Requester) => Promise<Reserve>]>([
    ['a payout', (by) => claimPayout(world.db, by, { amount: '60' })],
    ['a batch', (by) => claimBatch(world.db, by, [{ amount: '30' }, { amount: '30' }])],
  ])('%s is refused by the limit of the account', async (_what, claimIt) => {
    const { accountId } = await fundedBalance(world.db, '1000');
    const by = await openKey(world.db, { accountId });
    await setDailyLimit(world.db, accountId, 'USDT', '100');
    const result = await reserveBeside(by, await claimIt(by));
    expect(result).toMatchObject({ kind: 'refused' });
    expect(JSON.stringify(result)).toContain('"limit":"daily"');
  });

  test.each<[string, (by: Requester, payment: OpenedPayment) => Promise<Reserve>]>([
    ['a payout', (by) => claimPayout(world.db, by, { amount: '60' })],
    ['a batch', (by) => claimBatch(world.db, by, [{ amount: '30' }, { amount: '30' }])],
    ['a refund', (by, { id }) => claimRefund(world.db, by, { paymentId: id, amount: '60' })],
  ])('%s is refused by the limit of its key', async (_what, claimIt) => {
    const payment = await creditedPayment();
    const by = await openKey(world.db, payment, { USDT: { per_day: amount('100') } });
    const result = await reserveBeside(by, await claimIt(by, payment));
    expect(result).toMatchObject({ kind: 'refused' });
    expect(JSON.stringify(result)).toContain('"limit":"key_daily"');
  });
});

test('batches lock their currencies in one order, whatever the order of their rows', async () => {
  const { accountId } = await fundedBalance(world.db, '1000');
  await fund(world.db, { accountId, mode: 'test', currency: 'USDC' }, '1000');
  const by = await openKey(world.db, { accountId });
  for (const currency of ['USDC', 'USDT'])
    await setDailyLimit(world.db, accountId, currency, '1000');
  const holding = await world.db.begin();
  lockUsage(holding, { ...by, currency: 'USDC' });
  // The lock is sent with this statement.
  await holding.query('SELECT 1');
  const reserve = await claimBatch(world.db, by, [
    { amount: '1', currency: 'USDT' },
    { amount: '1', currency: 'USDC' },
  ]);
  const reserving = reserve(world);
  await whenWaiting(world.db, 1);
  const isFree = await world.db.transaction((tx) => canLock(tx, by, 'USDT'));
  await holding.commit();
  expect(await reserving).toMatchObject({ kind: 'reserved' });
  expect(isFree).toBe(true);
});

async function canLock(tx: Tx, { accountId, mode }: Requester, currency: string): Promise<boolean> {
  const [found] = await tx.query<{ isFree: boolean }>(
    'SELECT pg_try_advisory_xact_lock(payout_usage_key(?, ?, ?)) AS is_free',
    [accountId, mode, currency],
  );
  return found?.isFree ?? false;
}

test('a claim for a refund of one payment refunds no other', async () => {
  const [asked, other] = [await creditedPayment(), await creditedPayment()];
  const by = await openKey(world.db, asked);
  const reserve = await claimRefund(world.db, by, { paymentId: asked.id, amount: '60' });
  await expect(reserve(world, other.id)).rejects.toThrow('is of another payment');
  expect(await listRefunds(world.db, other.id)).toEqual([]);
  expect(await reserve(world)).toEqual({ kind: 'reserved' });
  expect(await listRefunds(world.db, asked.id)).toMatchObject([{ amount: '60.00000000' }]);
});
