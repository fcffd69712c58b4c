/** Limits and pauses of POST /payouts (decisions/controls#payout-limits and decisions/controls#payout-pauses). */
import { brokenInvariants } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import {
  buildPayout,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { type Outage, setOutage } from '../../support/servers/sandbox';
import {
  balanceOf,
  countPayouts,
  keyStates,
  magic,
  openMerchant,
  sendUntilAnswered,
  whenFinal,
} from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

// It takes a currency's limits away, which hold for all accounts.
const gateway = started(startDirectGateway);

async function setLimits(
  accountId: string,
  { perTransaction = null, daily = null }: Record<string, string | null>,
): Promise<void> {
  await gateway.db.query(
    `INSERT INTO payout_policies (account_id, currency, per_transaction_max, daily_max)
     VALUES (?, 'USDT', ?, ?)`,
    [accountId, perTransaction ?? null, daily ?? null],
  );
}

async function expectLimit(client: MerchantClient, amount: string, details: object): Promise<void> {
  const answer = await client.createPayout(buildPayout({ amount }));
  expect(answer).toMatchObject({ status: 422, json: { error: { code: 'limit_exceeded' } } });
  expect(answer.json.error.details).toEqual({ currency: 'USDT', ...details });
}

test('a payout above the limit per payout is refused, one that meets it is not [error 422 limit_exceeded]', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '60000' } });
  await expectLimit(client, '50000.00000001', {
    limit: 'per_transaction',
    maximum: '50000.00000000',
    used: '0.00000000',
    requested: '50000.00000001',
    resets_at: null,
  });
  expect(await client.createPayout(buildPayout({ amount: '50000' }))).toMatchObject({
    status: 201,
  });
});

test('a currency without limits is refused, until somebody says what they are [error 503 service_unavailable]', async () => {
  await gateway.db.query(`DELETE FROM payout_policies WHERE currency = 'USDC'`);
  const { client, accountId } = await openMerchant(gateway, { funds: { USDC: '100' } });
  const create = () => client.createPayout(buildPayout({ amount: '10', currency: 'USDC' }));
  const refused = await create();
  expect(refused).toMatchObject({
    status: 503,
    json: {
      error: { code: 'service_unavailable', details: { reason: 'limits_not_configured' } },
    },
  });
  // Waiting does not help: an operator has to act.
  expect(refused.headers.has('retry-after')).toBe(false);
  // No maximum is an answer too.
  await gateway.db.query(`INSERT INTO payout_policies (account_id, currency) VALUES (?, 'USDC')`, [
    accountId,
  ]);
  expect(await create()).toMatchObject({ status: 201 });
});

test('a used reference is told while the provider has no estimate', async () => {
  const { client } = await openMerchant(gateway);
  const first = await client.createPayout(buildPayout());
  const { reference } = first.json.data as { reference: string };
  const outage = (kind: Outage) => setOutage(gateway, 'onchain_provider', 'live', kind);
  await outage('answer_503');
  const ether = {
    currency: 'ETH',
    amount: '0.1',
    network: 'ethereum',
    destination: { type: 'crypto_address', value: '0x2000000000000000000000000000000000009000' },
  };
  try {
    expect(await client.createPayout(buildPayout(ether))).toMatchObject({
      status: 503,
      json: { error: { details: { reason: 'provider_unavailable' } } },
    });
    expect(await client.createPayout(buildPayout({ ...ether, reference }))).toMatchObject({
      status: 409,
      json: { error: { code: 'duplicate_reference' } },
    });
  } finally {
    await outage(null);
  }
});

test('the daily limit counts amounts, and says when the first of them leaves the window [error 422 limit_exceeded]', async () => {
  const { accountId, client } = await openMerchant(gateway);
  await setLimits(accountId, { daily: '100' });
  const first = await client.createPayout(buildPayout({ amount: '60' }));
  const createdAt = new Date(first.json.data.created_at).getTime();
  await expectLimit(client, '40.00000001', {
    limit: 'daily',
    maximum: '100.00000000',
    used: '60.00000000',
    requested: '40.00000001',
    resets_at: new Date(createdAt + 24 * 60 * 60 * 1000).toISOString(),
  });
  expect(await client.createPayout(buildPayout({ amount: '40' }))).toMatchObject({ status: 201 });

  await gateway.db.query(
    `UPDATE payouts SET created_at = created_at - interval '24 hours' WHERE id = ?`,
    [first.json.data.id],
  );
  // The sum that was kept knows nothing of a creation time that changes.
  await gateway.db.query('DELETE FROM payout_usage');
  expect(await client.createPayout(buildPayout({ amount: '60' }))).toMatchObject({ status: 201 });
});

test('the rows of a batch use up the day of the account together, beside payouts of the day', async () => {
  const { accountId, client } = await openMerchant(gateway);
  await setLimits(accountId, { daily: '100' });
  expect(await client.createPayout(buildPayout({ amount: '30' }))).toMatchObject({ status: 201 });
  const payouts = ['40', '29', '1.00000001'].map((amount) => buildPayout({ amount }));
  const { json } = await client.create('/payout_batches', { reference: randomKey(), payouts });
  expect(json.error.details.rows).toMatchObject([
    { row: 3, code: 'limit_exceeded', details: { limit: 'daily', used: '99.00000000' } },
  ]);
});

test('a payout above the maximum that is approved automatically waits for an operator, one that meets it does not', async () => {
  const { accountId, client } = await openMerchant(gateway);
  await gateway.db.query(
    `INSERT INTO payout_policies (account_id, currency, auto_approve_max) VALUES (?, 'USDT', 50)`,
    [accountId],
  );
  const reviewOf = async (amount: string) => {
    const { json } = await client.createPayout(buildPayout({ amount }));
    const [row] = await gateway.db.query<{ reviewReasons: string[] }>(
      'SELECT review_reasons FROM payouts WHERE id = ?',
      [json.data.id],
    );
    return row?.reviewReasons;
  };
  expect(await reviewOf('50')).not.toContain('above_auto_approve_max');
  expect(await reviewOf('50.00000001')).toContain('above_auto_approve_max');
});

test('one mode’s payouts do not use up the other’s limit', async () => {
  const { accountId, client, otherMode } = await openMerchant(gateway);
  await setLimits(accountId, { daily: '100' });
  expect(await client.createPayout(buildPayout({ amount: '100' }))).toMatchObject({ status: 201 });
  await fund(gateway.db, accountId, 'test', 'USDT', '1000');
  expect(await otherMode.createPayout(buildPayout({ amount: '100' }))).toMatchObject({
    status: 201,
  });
  await expectLimit(otherMode, '1', {
    limit: 'daily',
    maximum: '100.00000000',
    used: '100.00000000',
    requested: '1.00000000',
    resets_at: expect.stringMatching(/Z$/),
  });
});

test.each([
  { end: 'rejected', finish: (id: string) => gateway.reject(id, 'no') },
  { end: 'failed', finish: (id: string) => gateway.drive(id) },
  {
    end: 'cancelled',
    finish: (id: string, client: MerchantClient) => client.post(`/payouts/${id}/cancel`),
  },
])('a $end payout does not count for the daily limit', async ({ end, finish }) => {
  const { accountId, client } = await openMerchant(gateway);
  await setLimits(accountId, { daily: '100' });
  const body = buildPayout({ amount: '100', destination: magic('refuses') });
  const { json } = await client.createPayout(body);
  await finish(json.data.id, client);
  expect(await whenFinal(client, json.data.id)).toMatchObject({ status: end });
  expect(await client.createPayout(buildPayout({ amount: '100' }))).toMatchObject({ status: 201 });
});

test('requests at the same time never pass the daily limit together', async () => {
  const { accountId, client } = await openMerchant(gateway);
  await setLimits(accountId, { daily: '100' });
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const body = buildPayout({ amount: '10' });
      return sendUntilAnswered(() => client.createPayout(body, `key-${index}`));
    }),
  );
  expect(answers.filter(({ status }) => status === 201).length).toBe(10);
  for (const { status, json } of answers.filter((one) => one.status !== 201)) {
    expect({ status, error: json.error }).toMatchObject({
      status: 422,
      error: { code: 'limit_exceeded', details: { limit: 'daily', maximum: '100.00000000' } },
    });
  }
  expect(await balanceOf(client)).toMatchObject({ reserved: '111.00000000' });
  expect(await brokenInvariants(gateway)).toEqual([]);
});

test.each([
  { scope: 'global', target: () => '' },
  { scope: 'provider', target: () => 'onchain_provider' },
  { scope: 'account', target: (accountId: string) => accountId },
])(
  'a $scope pause refuses new payouts until it ends [error 503 service_unavailable]',
  async ({ scope, target }) => {
    const { accountId, client } = await openMerchant(gateway);
    const pause = [scope, target(accountId)];
    await gateway.db.query(
      `INSERT INTO payout_pauses (scope, target, reason) VALUES (?, ?, 'A secret of the operator')`,
      pause,
    );
    const body = buildPayout();
    const refused = await client.createPayout(body, 'key-1');
    await gateway.db.query('DELETE FROM payout_pauses WHERE scope = ? AND target = ?', pause);

    expect(refused).toMatchObject({
      status: 503,
      json: { error: { code: 'service_unavailable' } },
    });
    expect(refused.json.error.details).toEqual({ reason: 'payouts_paused' });
    expect(refused.text).not.toContain('secret');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await countPayouts(gateway, accountId)).toBe(0);
    expect(await keyStates(gateway, accountId)).toEqual({});
    expect(await client.createPayout(body, 'key-1')).toMatchObject({ status: 201 });
  },
);

test('a pause of one provider or account leaves the others alone', async () => {
  const paused = await openMerchant(gateway);
  const other = await openMerchant(gateway);
  await gateway.db.query(
    `INSERT INTO payout_pauses (scope, target, reason)
     VALUES ('account', ?, 'x'), ('provider', 'exchange_pay', 'x')`,
    [paused.accountId],
  );
  const answers = {
    account: await paused.client.createPayout(buildPayout()),
    other: await other.client.createPayout(buildPayout()),
    provider: await other.client.createPayout(
      buildPayout({ destination: { type: 'exchange_id', value: '123456789' }, network: undefined }),
    ),
  };
  await gateway.db.query('DELETE FROM payout_pauses');
  expect(answers.account.status).toBe(503);
  expect(answers.other.status).toBe(201);
  expect(answers.provider.status).toBe(503);
});
