/** What an API key is held to: recipients, currencies and amounts (decisions/payouts#recipients). */
import { buildPayout, randomKey } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

const setKeys = (id: string, sql: string) =>
  gateway.db.query(`UPDATE api_keys SET ${sql} WHERE account_id = ?`, [id]);

test('a key that is held to recipients, to currencies and to amounts', async () => {
  const { client, accountId } = await openMerchant(gateway, {
    mode: 'test',
    funds: { USDT: '1000', ETH: '5' },
  });
  await setKeys(accountId, `recipients_only = true`);
  const raw = await client.createPayout(buildPayout());
  expect([raw.status, raw.json.error.details]).toEqual([403, { held: 'api_key' }]);
  await setKeys(
    accountId,
    `recipients_only = false, payout_currencies = '{USDT}', payout_limits =
     '{"USDT": {"per_payout": "60.00000000", "per_day": "100.00000000"}}'`,
  );
  const eth = await client.createPayout(
    buildPayout({
      amount: '1',
      currency: 'ETH',
      network: 'ethereum',
      destination: {
        type: 'crypto_address',
        value: '0x52908400098527886E0F7030069857D2E4169EE7',
      },
    }),
  );
  expect([eth.status, eth.json.error.code, eth.json.error.details]).toEqual([
    403,
    'currency_not_allowed',
    { allowed: ['USDT'] },
  ]);
  const large = await client.createPayout(buildPayout({ amount: '60.00000001' }));
  expect(large.json.error.details).toMatchObject({ limit: 'key_per_transaction' });
  expect((await client.createPayout(buildPayout({ amount: '60' }))).status).toBe(201);
  const late = await client.createPayout(buildPayout({ amount: '40.00000001' }));
  expect(late.json.error.details).toMatchObject({
    limit: 'key_daily',
    maximum: '100.00000000',
    used: '60.00000000',
  });
  expect(late.json.error.details.resets_at).not.toBeNull();
  expect((await client.createPayout(buildPayout({ amount: '40' }))).status).toBe(201);
});

test('twenty payouts at once do not exceed the daily limit of their key', async () => {
  const { client, accountId } = await openMerchant(gateway, { mode: 'test' });
  await setKeys(accountId, `payout_limits = '{"USDT": {"per_day": "10.00000000"}}'`);
  // Without limits of the account, whose lock would put the requests in order.
  await gateway.db.query(
    `INSERT INTO payout_policies (account_id, currency, daily_max, auto_approve_daily_max)
     VALUES (?, 'USDT', NULL, NULL)`,
    [accountId],
  );
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.createPayout(buildPayout({ amount: '10' }))),
  );
  const accepted = answers.filter(({ status }) => status === 201);
  expect(accepted).toHaveLength(1);
  for (const { status, json } of answers) {
    if (status !== 201) expect(json.error.details.limit).toBe('key_daily');
  }
  const rest = await client.createPayout(buildPayout({ amount: '0.00000001' }));
  expect(rest.status).toBe(422);
});

test('the rows of a batch count against the daily limit of their key together', async () => {
  const { client, accountId } = await openMerchant(gateway, { mode: 'test' });
  await setKeys(accountId, `payout_limits = '{"USDT": {"per_day": "25.00000000"}}'`);
  const payouts = [buildPayout(), buildPayout(), buildPayout()];
  const { json } = await client.create('/payout_batches', { reference: randomKey(), payouts });
  expect(json.error.details.rows).toMatchObject([
    { row: 3, code: 'limit_exceeded', details: { limit: 'key_daily' } },
  ]);
});
