/** Many requests at once against one balance: what fits is paid out, never more. */
import { brokenInvariants } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import {
  type ApiAnswer,
  buildPayout,
  type MerchantClient,
} from '../../support/merchant/merchant-client';
import {
  balanceOf,
  countPayouts,
  openMerchant,
  sendUntilAnswered,
} from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

const REQUESTS = 200;
const FITTING = 50;

/** A busy machine may answer 503: then the same request again, as merchants are told to. */
async function sendAll(client: MerchantClient, bodies: unknown[]): Promise<ApiAnswer[]> {
  return Promise.all(
    bodies.map((body, index) => sendUntilAnswered(() => client.createPayout(body, `key-${index}`))),
  );
}

test('of 200 requests at once against a balance for 50, exactly 50 are accepted', async () => {
  // 10 + 0.1 service fee + 1 network fee, fifty times.
  const { accountId, client } = await openMerchant(gateway, { funds: { USDT: '555' } });
  const bodies = Array.from({ length: REQUESTS }, () => buildPayout());
  const answers = await sendAll(client, bodies);

  const accepted = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 422);
  expect([accepted.length, refused.length]).toEqual([FITTING, REQUESTS - FITTING]);
  for (const { json } of refused) {
    expect(json.error).toMatchObject({
      code: 'insufficient_balance',
      details: {
        currency: 'USDT',
        available: expect.stringMatching(/^\d+\.\d{8}$/),
        required: '11.10000000',
      },
    });
    // It tells the balance as it was when it was too small.
    expect(Number(json.error.details.available)).toBeLessThan(11.1);
  }
  expect(new Set(accepted.map(({ json }) => json.data.id)).size).toBe(FITTING);
  expect(await countPayouts(gateway, accountId)).toBe(FITTING);
  expect(await balanceOf(client)).toMatchObject({
    available: '0.00000000',
    reserved: '555.00000000',
  });
  const [lowest] = await gateway.db.query<{ lowest: string }>(
    `SELECT min(e.balance_after)::text AS lowest
       FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
      WHERE t.account_id = ? AND e.account = 'available'`,
    [accountId],
  );
  expect(lowest).toEqual({ lowest: '0.00000000' });
  expect(await brokenInvariants(gateway)).toEqual([]);
});

test('the refused ones leave their keys free: with new funds the same requests pass', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: { USDT: '22.2' } });
  const bodies = Array.from({ length: 6 }, () => buildPayout());
  const first = await sendAll(client, bodies);
  expect(first.filter(({ status }) => status === 201).length).toBe(2);

  await fund(gateway.db, accountId, 'live', 'USDT', '44.4');
  const second = await sendAll(client, bodies);
  expect(second.map(({ status }) => status)).toEqual(bodies.map(() => 201));
  const replayed = second.filter(({ headers }) => headers.has('idempotent-replayed'));
  expect(replayed.length).toBe(2);
  expect(await countPayouts(gateway, accountId)).toBe(6);
  expect(await balanceOf(client)).toMatchObject({ available: '0.00000000' });
});
