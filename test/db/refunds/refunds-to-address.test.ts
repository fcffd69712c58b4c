/**
 * Money that goes to an address which somebody names leaves as a payout, under every rule of payouts
 * (decisions/payments#refunds-to-address). Played through the activities over a real database and the sandbox.
 */
import { createHash } from 'node:crypto';
import { checkPayment } from '../../../activities/payment/check';
import { decidePayment } from '../../../activities/payment/decide';
import { payRefund } from '../../../activities/payment/pay-refund';
import { reserveRefund } from '../../../activities/payment/reserve-refund';
import { withdrawRefund } from '../../../activities/payment/waiting-refunds';
import { approvePayout, cancelPayout, rejectPayout } from '../../../activities/payout/decide';
import { releasePayout } from '../../../activities/payout/release';
import { applyTransition } from '../../../activities/payout/transition';
import { claimKey } from '../../../src/db/idempotency';
import { listBalances } from '../../../src/db/ledger/ledger';
import { findRefund } from '../../../src/db/payments/payment-refunds';
import { findPayment } from '../../../src/db/payments/payments';
import { findPayout, getPayout } from '../../../src/db/payouts/payouts';
import { findNamingRequest } from '../../../src/db/payments/refund-links';
import { settlementPosting } from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import {
  createRefundAddresses,
  makeRefundLink,
} from '../../../src/features/payments/refund-addresses';
import { brokenInvariants } from '../../support/servers/gateway';
import { createKey } from '../../support/merchant/merchant';
import {
  atProvider,
  ON_CHAIN,
  openPayment,
  type OpenedPayment,
  startPaymentWorld,
} from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld);
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

let payment: OpenedPayment;
let apiKeyId: string;

beforeEach(async () => {
  payment = await openPayment(world, ON_CHAIN);
  await atProvider(
    world,
    payment.id,
    'pay',
    { amount: '100', at: new Date().toISOString() },
    ON_CHAIN,
  );
  await checkPayment(world, payment.id);
  await createKey(world.db, 'pepper', { accountId: payment.accountId, mode: 'live' });
  const [key] = await world.db.query<{ id: string }>(
    `UPDATE api_keys SET created_at = now() - interval '2 days' WHERE account_id = ? RETURNING id`,
    [payment.accountId],
  );
  apiKeyId = key?.id ?? '';
  await account('review_all = false');
});

afterEach(async () => {
  await world.db.query('DELETE FROM payout_pauses', []);
  await world.db.query('DELETE FROM four_eyes_thresholds', []);
  expect(await brokenInvariants(world)).toEqual([]);
});

/** What the merchant's request does. @returns the id of the refund, and the outcome */
async function ask(value: string | null = '40') {
  const id = newId('refund');
  const request = {
    ...{ paymentId: payment.id, amount: value === null ? null : amount(value), reference: id },
    ...{ reason: null, destination: null },
  };
  await claimKey(
    world.db,
    { accountId: payment.accountId, mode: 'live', key: id },
    { objectId: id, bodyHashes: [Buffer.from(id)], claimed: { apiKeyId, request, route: {} } },
  );
  return { id, outcome: await reserveRefund(world, payment.id, id) };
}

async function ordered(value: string | null = '40'): Promise<string> {
  const { id, outcome } = await ask(value);
  expect(outcome).toEqual({ kind: 'reserved' });
  return id;
}

async function name(id: string) {
  const destination = JSON.stringify({ type: 'crypto_address', value: ADDRESS, memo: null });
  await world.db.query(
    `INSERT INTO refund_links (refund_id, token_hash, made_by, destination) VALUES (?, ?, 'mail', ?)
         ON CONFLICT (refund_id) DO UPDATE SET destination = excluded.destination`,
    [id, createHash('sha256').update(id).digest(), destination],
  );
  return payRefund(world, payment.id, id);
}

/** A refund whose payout is made. */
async function paid(value: string | null = '40') {
  const id = await ordered(value);
  expect(await name(id)).toEqual({ kind: 'reserved' });
  return { id, payoutId: (await findRefund(world.db, id))?.payoutId ?? '' };
}

async function figures(id: string) {
  const refund = await findRefund(world.db, id);
  const [held] = await listBalances(world.db, payment.accountId, 'live');
  const stored = await findPayment(world.db, payment.id);
  return {
    state: refund?.state,
    available: held?.available,
    reserved: held?.reserved,
    refunded: stored?.refundedAmount,
  };
}

const account = (change: string) =>
  world.db.query(`UPDATE accounts SET ${change} WHERE id = ?`, [payment.accountId]);
const policy = (column: string, value: string) =>
  world.db.query(
    `INSERT INTO payout_policies (account_id, currency, ${column}, inherited)
     VALUES (?, 'USDT', ?, array_remove(ARRAY['per_transaction_max', 'daily_max',
       'auto_approve_max', 'auto_approve_daily_max'], '${column}'))`,
    [payment.accountId, value],
  );
const key = (change: string) =>
  world.db.query(`UPDATE api_keys SET ${change} WHERE id = ?`, [apiKeyId]);

/** An owner of the account. @returns the id */
async function openPerson(): Promise<string> {
  const user = newId('user');
  await world.db.query(
    `INSERT INTO users (id, kind, email, password_hash, created_at)
     VALUES (?, 'merchant', ?, 'x', now() - interval '2 days')`,
    [user, `${user}@example.com`],
  );
  await world.db.query(
    `INSERT INTO memberships (user_id, account_id, role) VALUES (?, ?, 'owner')`,
    [user, payment.accountId],
  );
  return user;
}

describe('a refund whose customer names an address', () => {
  test('takes the money once, sends it as a payout without fees, and ends with it', async () => {
    const id = await ordered();
    expect(await figures(id)).toMatchObject({ available: '59.40000000', reserved: '0.00000000' });
    expect(await name(id)).toEqual({ kind: 'reserved' });
    expect(await name(id)).toEqual({ kind: 'reserved' });
    expect(await figures(id)).toMatchObject({ available: '59.40000000', reserved: '40.00000000' });
    const { payoutId } = (await findRefund(world.db, id)) ?? {};
    expect(await findPayout(world.db, payoutId ?? '')).toMatchObject({
      ...{ reference: id, apiKeyId, amount: '40.00000000', totalDebit: '40.00000000' },
      ...{ destinationValue: ADDRESS, network: 'tron', status: 'under_review' },
      reviewReasons: ['first_use_of_destination'],
    });
    await complete(payoutId ?? '');
    expect(await figures(id)).toEqual({
      ...{ state: 'done', available: '59.40000000', reserved: '0.00000000' },
      refunded: '40.00000000',
    });
    const [refunded] = await world.db.query(
      `SELECT sum(e.amount * CASE e.direction WHEN 'in' THEN 1 ELSE -1 END) AS sum
         FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
        WHERE t.account_id = ? AND e.account = 'fee_income'`,
      [payment.accountId],
    );
    expect(refunded).toEqual({ sum: '0.60000000' });
  });

  test('of everything ends the payment as refunded', async () => {
    const { id, payoutId } = await paid(null);
    await complete(payoutId);
    expect(await findPayment(world.db, payment.id)).toMatchObject({ status: 'refunded' });
    expect(await figures(id)).toMatchObject({ available: '0.00000000', reserved: '0.00000000' });
  });

  test.each([
    ['rejected', (id: string) => rejectPayout(world, id, 'alice', null)],
    ['cancelled', (id: string) => cancelPayout(world, id, newId('request'))],
  ])('fails once when its payout is %s, and the money is back', async (status, end) => {
    const { id, payoutId } = await paid();
    await end(payoutId);
    await end(payoutId);
    expect(await getPayout(world.db, payoutId)).toMatchObject({ status });
    expect(await figures(id)).toEqual({
      ...{ state: 'refused', available: '99.00000000', reserved: '0.00000000' },
      refunded: '0.00000000',
    });
    expect((await findRefund(world.db, id))?.refusal).toContain(status);
    expect(await name(id)).toEqual({ kind: 'abandoned' });
  });

  test('waits while another payout of the merchant has its id as its reference', async () => {
    const id = await ordered();
    const { payoutId } = await paid('10');
    await world.db.query('UPDATE payouts SET reference = ? WHERE id = ?', [id, payoutId]);
    expect(await findRefund(world.db, id)).toMatchObject({ state: 'ordered', payoutId: null });
    expect(await name(id)).toMatchObject({ refusal: { code: 'duplicate_reference' } });
    expect(await findRefund(world.db, id)).toMatchObject({ state: 'ordered', payoutId: null });
  });
});

describe('the rules of payouts hold when it is ordered', () => {
  test.each([
    ['recipients only', () => account('recipients_only = true'), 'recipient_required'],
    ['recipients only of the key', () => key('recipients_only = true'), 'recipient_required'],
    ['the maximum of the account', () => policy('per_transaction_max', '39'), 'limit_exceeded'],
    ['the day of the account', () => policy('daily_max', '39'), 'limit_exceeded'],
    [
      'the maximum of the key',
      () => key(`payout_limits = '{"USDT": {"per_payout": "39"}}'`),
      'limit_exceeded',
    ],
    [
      'the day of the key',
      () => key(`payout_limits = '{"USDT": {"per_day": "39"}}'`),
      'limit_exceeded',
    ],
    ['the currencies of the key', () => key(`payout_currencies = '{BTC}'`), 'currency_not_allowed'],
  ])('%s', async (_, rule, code) => {
    await rule();
    expect((await ask()).outcome).toMatchObject({ kind: 'refused', refusal: { code } });
  });

  test.each([
    ['account', () => policy('daily_max', '70')],
    ['key', () => key(`payout_limits = '{"USDT": {"per_day": "70"}}'`)],
  ])('refunds and payouts use up one day of the %s, each once', async (_, rule) => {
    await rule();
    const { payoutId } = await paid('40');
    expect((await ask('31')).outcome).toMatchObject({
      refusal: { code: 'limit_exceeded', details: { used: '40.00000000' } },
    });
    const second = await ordered('30');
    expect((await ask('1')).outcome).toMatchObject({ kind: 'refused' });
    await rejectPayout(world, payoutId, 'alice', null);
    expect(await name(second)).toEqual({ kind: 'reserved' });
    await ordered('40');
  });
});

describe('the rules of payouts hold when the address is named, whatever they were before', () => {
  test.each([
    ['recipients only', () => account('recipients_only = true'), 'recipient_required'],
    ['recipients only of the key', () => key('recipients_only = true'), 'recipient_required'],
    ['the maximum of the account', () => policy('per_transaction_max', '39'), 'limit_exceeded'],
    ['the day of the account', () => policy('daily_max', '39'), 'limit_exceeded'],
    [
      'the maximum of the key',
      () => key(`payout_limits = '{"USDT": {"per_payout": "39"}}'`),
      'limit_exceeded',
    ],
    [
      'the day of the key',
      () => key(`payout_limits = '{"USDT": {"per_day": "39"}}'`),
      'limit_exceeded',
    ],
    ['a suspended account', () => account(`status = 'suspended'`), 'account_suspended'],
    ['a revoked key', () => key('revoked_at = now()'), 'invalid_api_key'],
    ['an expired key', () => key('expires_at = now()'), 'invalid_api_key'],
    [
      'a key without the scope',
      () => key(`scopes = '{payments:write,payouts:write}'`),
      'invalid_api_key',
    ],
    ['a pause of everything', () => pause('global', ''), 'service_unavailable'],
    ['a pause of the account', () => pause('account', payment.accountId), 'service_unavailable'],
    ['a pause of the provider', () => pause('provider', 'onchain_provider'), 'service_unavailable'],
  ])('%s', async (_, rule, code) => {
    const id = await ordered();
    await rule();
    expect(await name(id)).toMatchObject({ kind: 'refused', refusal: { code } });
    expect(await findRefund(world.db, id)).toMatchObject({ state: 'ordered', payoutId: null });
    expect(await figures(id)).toMatchObject({ reserved: '0.00000000' });
  });

  test.each([
    ['has another role', `UPDATE memberships SET role = 'developer' WHERE user_id = ?`],
    ['has left the account', 'DELETE FROM memberships WHERE user_id = ?'],
    ['is disabled', 'UPDATE users SET disabled_at = now() WHERE id = ?'],
  ])('a person who %s sends nothing', async (_, change) => {
    apiKeyId = await openPerson();
    const id = await ordered();
    await world.db.query(change, [apiKeyId]);
    expect(await name(id)).toMatchObject({ refusal: { code: 'invalid_api_key' } });
    expect(await figures(id)).toMatchObject({ state: 'ordered', reserved: '0.00000000' });
  });

  test.each([
    ['review of all', () => account('review_all = true'), 'review_all'],
    ['the line of approval', () => policy('auto_approve_max', '39'), 'above_auto_approve_max'],
    [
      'the day of approvals',
      () => policy('auto_approve_daily_max', '39'),
      'above_auto_approve_daily_max',
    ],
    ['a new key', () => key('created_at = now()'), 'new_api_key'],
    ['four eyes', () => fourEyes('39'), 'above_four_eyes_threshold'],
  ])('%s sends it to the queue', async (_, rule, reason) => {
    const id = await ordered();
    await rule();
    expect(await name(id)).toEqual({ kind: 'reserved' });
    const { payoutId } = (await findRefund(world.db, id)) ?? {};
    expect(await findPayout(world.db, payoutId ?? '')).toMatchObject({
      status: 'under_review',
      reviewReasons: expect.arrayContaining([reason]),
    });
  });

  test('four eyes: one approval by signal is not enough', async () => {
    const { payoutId } = await paid();
    await fourEyes('39');
    await approvePayout(world, payoutId, 'alice');
    expect(await getPayout(world.db, payoutId)).toMatchObject({ status: 'under_review' });
  });

  test('what a person asks for above the line waits for another person, who sees the address', async () => {
    await account(`second_person_above = '{"USDT": "39"}'`);
    const user = await openPerson();
    apiKeyId = user;
    const { payoutId } = await paid();
    expect(await findPayout(world.db, payoutId)).toMatchObject({
      awaitsRelease: true,
      conditions: [{ kind: 'second_person', parameters: { maker: user }, metAt: null }],
    });
    await approvePayout(world, payoutId, 'alice');
    expect(await getPayout(world.db, payoutId)).toMatchObject({ status: 'requested' });
  });
});

describe('a refund without an address', () => {
  test('is taken back, and can be ordered again', async () => {
    const id = await ordered(null);
    expect(await withdrawRefund(world, payment.id, id)).toBe(true);
    expect(await withdrawRefund(world, payment.id, id)).toBe(false);
    expect(await name(id)).toEqual({ kind: 'abandoned' });
    expect(await figures(id)).toMatchObject({ state: 'refused', available: '99.00000000' });
    await ordered(null);
  });

  test('is not taken back once it has a payout', async () => {
    const { id } = await paid();
    expect(await withdrawRefund(world, payment.id, id)).toBe(false);
  });

  test('ends after its time: the money is back, and the address comes too late', async () => {
    const id = await ordered();
    const over = `UPDATE payment_refunds SET address_until = clock_timestamp() - interval '1 minute' WHERE id = ?`;
    await world.db.query(over, [id]);
    await checkPayment(world, payment.id);
    expect(await findRefund(world.db, id)).toMatchObject({
      refusal: 'No address was named in time.',
    });
    expect(await figures(id)).toMatchObject({ state: 'refused', available: '99.00000000' });
  });

  test('gives way to what the provider sends back by itself', async () => {
    const id = await ordered('60');
    await atProvider(world, payment.id, 'refund', {}, ON_CHAIN);
    await checkPayment(world, payment.id);
    expect(await figures(id)).toMatchObject({ state: 'refused', refunded: '100.00000000' });
  });

  test.each([
    ['that nobody reviews', false],
    ['that waits for its conditions', true],
  ])(
    '%s goes to review when the threshold of two operators is lowered meanwhile',
    async (_what, waits) => {
      const { payoutId } = await paid();
      await world.db.query(
        `UPDATE payouts SET status = 'requested', review_reasons = '{}', awaits_release = ?,
                created_at = created_at - interval '1 minute' WHERE id = ?`,
        [waits, payoutId],
      );
      await world.db.query(
        `INSERT INTO four_eyes_thresholds (currency, amount) VALUES ('USDT', 39)`,
      );
      const used = async () => {
        const sql = `SELECT auto_approved::int AS n FROM payout_used(?, 'live', 'USDT')`;
        return (await world.db.query<{ n: number }>(sql, [payment.accountId]))[0]?.n;
      };
      expect(await used()).toBe(40);
      if (waits) await releasePayout(world, payoutId);
      else await approvePayout(world, payoutId, null);
      expect(await getPayout(world.db, payoutId)).toMatchObject({
        status: 'under_review',
        reviewReasons: ['above_four_eyes_threshold'],
        awaitsRelease: waits,
      });
      expect(await used()).toBe(0);
      await approvePayout(world, payoutId, 'alice', 'signal');
      expect((await getPayout(world.db, payoutId)).status).toBe('under_review');
      await world.db.query('DELETE FROM four_eyes_thresholds');
      await approvePayout(world, payoutId, 'alice', 'signal');
      if (waits) await releasePayout(world, payoutId);
      expect((await getPayout(world.db, payoutId)).status).toBe('approved');
    },
  );

  test('of an operator leaves room for other decisions', async () => {
    const decide = (n: number) =>
      decidePayment(world, payment.id, {
        ...{ id: `refund-${n}`, kind: 'refund', by: 'alice', reason: 'a doubt', amount: '30' },
      });
    expect(await decide(1)).toEqual({ refusal: null });
    expect(await decide(2)).toEqual({ refusal: null });
    const exact = { ...world, decimalsOf: () => Promise.resolve(6) };
    const order = { kind: 'refund', by: 'alice', reason: 'a doubt', amount: '8.33333333' } as const;
    expect(await decidePayment(exact, payment.id, { id: 'too-fine', ...order })).toEqual({
      refusal: expect.stringContaining('at most 6 decimals'),
    });
    const [first] = await world.db.query<{ id: string }>(
      'SELECT id FROM payment_refunds WHERE payment_id = ? ORDER BY id',
      [payment.id],
    );
    expect(await name(first?.id ?? '')).toEqual({ kind: 'reserved' });
    await account('recipients_only = true');
    expect(await decide(3)).toEqual({ refusal: expect.stringContaining('saved recipients only') });
  });
});

describe('the link', () => {
  const hash = (token: string) => createHash('sha256').update(token).digest();
  const by = { actor: 'alice', reason: null, via: 'admin' } as const;

  test('of an operator works until a newer one, and once', async () => {
    const id = await ordered();
    const first = await makeRefundLink(world.db, by, id);
    const { token } = await makeRefundLink(world.db, by, id);
    expect(await findNamingRequest(world.db, hash(first.token))).toBeNull();
    const asked: string[] = [];
    const addresses = createRefundAddresses({
      db: world.db,
      paymentWorkflows: {
        payRefund: async ({ paymentId }, refundId) => {
          asked.push(refundId);
          return payRefund(world, paymentId, refundId);
        },
      },
    });
    expect(await addresses.find(token)).toMatchObject({ refundId: id, amount: '40.00000000' });
    expect(await addresses.name(token, { value: 'nonsense', memo: '' })).toMatchObject({
      ...{ kind: 'invalid', field: 'value' },
    });
    expect(await addresses.name(token, { value: ADDRESS, memo: '7' })).toMatchObject({
      ...{ kind: 'invalid', field: 'memo' },
    });
    expect(asked).toEqual([]);
    expect(await addresses.name(token, { value: ADDRESS, memo: '' })).toEqual({ kind: 'accepted' });
    expect(await addresses.find(token)).toBeNull();
    expect(await addresses.name(token, { value: ADDRESS, memo: '' })).toEqual({ kind: 'gone' });
    await expect(makeRefundLink(world.db, by, id)).rejects.toThrow('does not wait for an address');
  });

  const takeMail = async (id: string) => {
    const sql = `SELECT m.kind, m.email FROM link_mails l, take_link_mail(l.id, ?, 30) m
                  WHERE l.refund_id = ? AND l.kind = 'customer'`;
    return world.db.query(sql, [hash(`of the mail of ${id}`), id]);
  };
  const orderedWithMail = async () => {
    await world.db.query(`UPDATE payments SET customer_email = 'ada@example.com' WHERE id = ?`, [
      payment.id,
    ]);
    return ordered();
  };

  test('goes to the customer by mail, and the mail alone has it', async () => {
    const id = await orderedWithMail();
    expect(await takeMail(id)).toEqual([{ kind: 'customer', email: 'ada@example.com' }]);
    await world.db.query(
      `INSERT INTO account_logos (account_id, type, content, sha256)
       VALUES (?, 'image/png', 'logo', encode(sha256('logo'), 'hex'))`,
      [payment.accountId],
    );
    expect(await findNamingRequest(world.db, hash(`of the mail of ${id}`))).toMatchObject({
      ...{ refundId: id, logo: hash('logo').toString('hex') },
    });
  });

  test.each([
    ['was taken back', (id: string) => withdrawRefund(world, payment.id, id)],
    ['has its address', name],
    [
      'waits no more',
      (id: string) =>
        world.db.query('UPDATE payment_refunds SET address_until = now() WHERE id = ?', [id]),
    ],
  ])('is not mailed for a refund that %s', async (_, change) => {
    const id = await orderedWithMail();
    await change(id);
    expect(await takeMail(id)).toEqual([]);
  });
});

const pause = (scope: string, target: string) =>
  world.db.query(`INSERT INTO payout_pauses (scope, target, reason) VALUES (?, ?, 'a doubt')`, [
    scope,
    target,
  ]);
const fourEyes = (value: string) =>
  world.db.query(`INSERT INTO four_eyes_thresholds (currency, amount) VALUES ('USDT', ?)`, [value]);

/** The provider has sent it. */
async function complete(id: string): Promise<void> {
  await approvePayout(world, id, 'alice');
  await applyTransition(world, id, { trigger: 'accept' });
  const posting = settlementPosting;
  await applyTransition(world, id, { trigger: 'complete', posting });
  expect(await getPayout(world.db, id)).toMatchObject({ status: 'completed' });
}
