/** Addresses that do not exist are refused before anything is stored (decisions/payouts#destinations). */
import { buildPayout } from '../../support/merchant/merchant-client';
import { countPayouts, keyStates, openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

test.each([
  {
    why: 'a character is wrong',
    body: { network: 'tron' },
    destination: { value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T' },
  },
  {
    why: 'it is another network’s',
    body: { network: 'ethereum' },
    destination: { value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  },
  {
    why: 'it belongs to a test network',
    body: { currency: 'BTC', amount: '0.1', network: 'bitcoin' },
    destination: { value: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx' },
  },
  {
    why: 'it is an X-address',
    body: { currency: 'XRP', network: 'xrpl' },
    destination: { value: 'XVLhHMPHU98es4dbozjVtdWzVrDjtV5AqEL4xcZj5whKbmc', memo: '7' },
  },
])('an address is refused when $why', async ({ body, destination }) => {
  const { accountId, client } = await openMerchant(gateway, { funds: { USDT: '1000' } });
  const request = buildPayout({ ...body, destination: { type: 'crypto_address', ...destination } });
  const answer = await client.createPayout(request, 'key-1');
  expect(answer).toMatchObject({ status: 422, json: { error: { code: 'validation_failed' } } });
  const { fields } = answer.json.error.details;
  expect(fields).toEqual([
    { field: 'destination.value', rule: 'format', message: expect.stringMatching(/\.$/) },
  ]);
  expect(fields[0].message).not.toContain(destination.value);
  expect(await countPayouts(gateway, accountId)).toBe(0);

  // The key is free for the corrected request.
  expect(await keyStates(gateway, accountId)).toEqual({});
  expect(await client.createPayout(buildPayout(), 'key-1')).toMatchObject({ status: 201 });
});
