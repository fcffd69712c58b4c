/** GET /balance (the specification, "Balance object"). */
import { createKey, fund } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { acceptedPayout, openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

test('each currency has its own figures, with 8 decimals and not wrapped in data [endpoint GET /balance]', async () => {
  const { client } = await openMerchant(gateway, {
    funds: { USDT: '12345678901234567.12345678', BTC: '0.00000001' },
  });
  expect((await client.get('/balance')).json).toEqual({
    object: 'balance',
    mode: 'live',
    balances: [
      {
        currency: 'BTC',
        available: '0.00000001',
        reserved: '0.00000000',
        pending: '0.00000000',
      },
      {
        currency: 'USDT',
        available: '12345678901234567.12345678',
        reserved: '0.00000000',
        pending: '0.00000000',
      },
    ],
  });
});

test('an account without money has no balances', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  expect((await client.get('/balance')).json).toEqual({
    object: 'balance',
    mode: 'test',
    balances: [],
  });
});

test('a payout touches its own currency, account and mode only', async () => {
  const funds = { USDT: '100', USDC: '100' };
  const owner = await openMerchant(gateway, { funds });
  const stranger = await openMerchant(gateway, { funds });
  await fund(gateway.db, owner.accountId, 'test', 'USDT', '7');
  const watched = () =>
    Promise.all(
      [stranger.client, owner.otherMode].map(async (who) => (await who.get('/balance')).text),
    );
  const before = await watched();

  const id = await acceptedPayout(owner.client);
  expect((await owner.client.get('/balance')).json.balances).toMatchObject([
    { currency: 'USDC', available: '100.00000000', reserved: '0.00000000' },
    { currency: 'USDT', available: '88.90000000', reserved: '11.10000000' },
  ]);
  await owner.client.post(`/payouts/${id}/cancel`);
  expect((await owner.client.get('/balance')).json.balances).toMatchObject([
    { currency: 'USDC', available: '100.00000000', reserved: '0.00000000' },
    { currency: 'USDT', available: '100.00000000', reserved: '0.00000000' },
  ]);
  expect(await watched()).toEqual(before);
});

test('a key needs the scope of the route it calls', async () => {
  const { accountId } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const keyWith = async (scopes: ('balance:read' | 'payouts:read' | 'payouts:write')[]) =>
    new MerchantClient(
      gateway.baseUrl,
      await createKey(gateway.db, gateway.pepper, { accountId, mode: 'test', scopes }),
    );
  const lacking = (required_scope: string) => ({
    status: 403,
    json: { error: { code: 'insufficient_scope', details: { required_scope } } },
  });
  const reader = await keyWith(['balance:read', 'payouts:read']);
  const writer = await keyWith(['payouts:write']);
  expect(await reader.get('/balance')).toMatchObject({ status: 200 });
  expect(await reader.get('/payouts')).toMatchObject({ status: 200 });
  expect(await reader.createPayout(buildPayout())).toMatchObject(lacking('payouts:write'));
  expect(await reader.post('/payouts/po_1/cancel')).toMatchObject(lacking('payouts:write'));
  expect(await writer.get('/balance')).toMatchObject(lacking('balance:read'));
  expect(await writer.get('/payouts')).toMatchObject(lacking('payouts:read'));
  expect(await writer.get('/payouts/po_1')).toMatchObject(lacking('payouts:read'));
});
