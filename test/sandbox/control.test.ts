/** The sandbox's handles for tests, its callbacks' retries, and who may call its two APIs. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { amount } from '../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../src/domain/provider-codes';
import {
  buildOrder,
  connectProviders,
  control,
  makeCredentials,
  readBook,
  readBookEntry,
  startSandboxWorld,
  type SandboxWorld,
} from '../support/servers/sandbox';
import { waitFor } from '../support/wait-for';

let world: SandboxWorld;
beforeEach(async () => {
  world = await startSandboxWorld();
});
afterEach(() => world.stop());

const NEVER_SETTLES = amount('5.00009014');
const SLOW = amount('5.00009003');

function keyOf(code: ProviderCode, reference: string): Record<string, string> {
  return { provider: code, mode: 'test', client_reference: reference };
}

describe.each(PROVIDER_CODES)('%s', (code) => {
  it.each(['answer_503', 'hang', 'refuse'])(
    'is out with %s in one mode only, until it is back',
    async (kind) => {
      const order = buildOrder(code);
      expect(
        await control(world.sandbox.url, 'outage', { provider: code, mode: 'test', kind }),
      ).toBe(200);
      const out = world.impatient.get(code, 'test');
      expect((await out.submitPayout(order)).kind).toBe('unknown');
      expect((await out.findPayout(order.reference)).kind).toBe('unknown');
      const live = await world.patient.get(code, 'live').findPayout(order.reference);
      expect(live.kind).toBe('not_found');

      await control(world.sandbox.url, 'outage', { provider: code, mode: 'test', kind: null });
      const back = world.patient.get(code, 'test');
      expect(await back.findPayout(order.reference)).toEqual({ kind: 'not_found' });
      expect((await back.submitPayout(order)).kind).toBe('accepted');
    },
  );

  it.each([
    ['settle', 'sent', 1],
    ['fail', 'failed', 0],
  ])('can be told to %s a pending transfer, once', async (verb, status, timesSent) => {
    const order = { ...buildOrder(code), amount: NEVER_SETTLES };
    await world.patient.get(code, 'test').submitPayout(order);
    const key = keyOf(code, order.reference);
    expect(await control(world.sandbox.url, `transfers/${verb}`, key)).toBe(200);
    for (const again of ['settle', 'fail']) {
      expect(await control(world.sandbox.url, `transfers/${again}`, key)).toBe(409);
    }
    const entry = await waitFor('the acknowledgement', async () => {
      const found = await readBookEntry(world.sandbox.url, order.reference);
      return found?.acknowledged_status === status ? found : undefined;
    });
    expect(entry).toMatchObject({ status, times_sent: timesSent });
    expect(world.receiver.received).toHaveLength(1);
  });

  it('forgets the outcome that a transfer had before it was told another', async () => {
    const provider = world.patient.get(code, 'test');
    const failed = { ...buildOrder(code), amount: SLOW };
    const marker = { ...buildOrder(code), amount: SLOW };
    await provider.submitPayout(failed);
    await control(world.sandbox.url, 'transfers/fail', keyOf(code, failed.reference));
    await provider.submitPayout(marker);
    await waitFor(
      'the later transfer',
      async () => (await readBookEntry(world.sandbox.url, marker.reference))?.status === 'sent',
    );
    expect(await readBookEntry(world.sandbox.url, failed.reference)).toMatchObject({
      status: 'failed',
      times_sent: 0,
    });
  });

  it('tries a callback again until it is answered with 2xx', async () => {
    world.receiver.answersBefore200.push(500, 302);
    const order = buildOrder(code);
    await world.patient.get(code, 'test').submitPayout(order);
    await waitFor(
      'the acknowledgement',
      async () =>
        (await readBookEntry(world.sandbox.url, order.reference))?.acknowledged_status === 'sent',
    );
    expect(world.receiver.received).toHaveLength(3);
  });

  it('gives nothing to a wrong key, and the adapter then knows nothing', async () => {
    const stranger = connectProviders(world.sandbox, makeCredentials());
    const order = buildOrder(code);
    expect(await stranger.get(code, 'test').submitPayout(order)).toEqual({
      kind: 'unknown',
      reason: 'The provider answered with status 401.',
    });
    expect((await stranger.get(code, 'test').findPayout(order.reference)).kind).toBe('unknown');
    expect(await readBook(world.sandbox.url)).toEqual({ transfers: [], unaccepted: [] });
    await stranger.close();
  });
});

it('states a fee for what the on-chain provider sends, and none elsewhere', async () => {
  const onchain = world.patient.get('onchain_provider', 'live');
  const ask = (currency: string, network: string) => onchain.estimateNetworkFee(currency, network);
  const estimate = (fee: string, decimals = 8) => ({ kind: 'estimate', fee, decimals });
  expect(await ask('USDT', 'ethereum')).toEqual(estimate('4.00000000'));
  expect(await ask('USDC', 'base')).toEqual(estimate('0.05000000'));
  expect(await ask('BTC', 'bitcoin')).toEqual(estimate('0.00002000'));
  expect(await ask('XRP', 'xrpl')).toEqual(estimate('0.00010000', 6));
  expect((await ask('USDT', 'base')).kind).toBe('unknown');
  expect((await ask('__proto__', 'constructor')).kind).toBe('unknown');
  const exchangePay = world.patient.get('exchange_pay', 'live');
  expect((await exchangePay.estimateNetworkFee('USDT', 'internal')).kind).toBe('unknown');
});

it('refuses for good what a provider does not do', async () => {
  const onchain = world.patient.get('onchain_provider', 'test');
  const exchangePay = world.patient.get('exchange_pay', 'test');
  const unsent = buildOrder('onchain_provider', { network: 'base' });
  expect((await onchain.submitPayout(unsent)).kind).toBe('refused');
  const { destination } = buildOrder('onchain_provider');
  const outside = buildOrder('exchange_pay', { destination });
  expect((await exchangePay.submitPayout(outside)).kind).toBe('refused');
  const xrp = buildOrder('exchange_pay', { currency: 'XRP' });
  expect((await exchangePay.submitPayout(xrp)).kind).toBe('refused');
});

it('shows a submission that was not recorded as unaccepted', async () => {
  const order = { ...buildOrder('exchange_pay'), amount: amount('1.00009006') };
  await world.patient.get('exchange_pay', 'test').submitPayout(order);
  const { transfers, unaccepted } = await readBook(world.sandbox.url);
  expect(transfers).toEqual([]);
  expect(unaccepted).toEqual([{ ...keyOf('exchange_pay', order.reference), submissions: 1 }]);
});

it('lists the on-chain transfers page by page', async () => {
  const provider = world.patient.get('onchain_provider', 'test');
  const orders = [1, 2, 3].map(() => buildOrder('onchain_provider'));
  for (const order of orders) await provider.submitPayout(order);
  const key = world.credentials.onchain_provider.test?.apiKey ?? '';
  const references: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const url = `${world.sandbox.onchainUrl}/v1/transfers?limit=2${cursor && `&cursor=${cursor}`}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const page = (await response.json()) as {
      transfers: { client_reference: string }[];
      next_cursor: string | null;
    };
    references.push(...page.transfers.map((one) => one.client_reference));
    cursor = page.next_cursor;
  }
  // One that is sent meanwhile comes again.
  expect(new Set(references)).toEqual(new Set(orders.map((one) => one.reference)));
});

it('takes a signed Exchange Pay request once, and only as it was signed', async () => {
  const apiKey = world.credentials.exchange_pay.test?.apiKey ?? '';
  const url = `${world.sandbox.exchangePayUrl}/openapi/v1/payout/list`;
  const body = '{"cursor":null}';
  const headersOf = (timestamp: number): Record<string, string> => {
    const nonce = randomBytes(16).toString('hex');
    const signature = createHmac('sha512', apiKey).update(
      `${String(timestamp)}\n${nonce}\n${body}\n`,
    );
    return {
      'content-type': 'application/json',
      'exchangepay-key-id': createHash('sha256').update(apiKey).digest('hex').slice(0, 16),
      'exchangepay-timestamp': String(timestamp),
      'exchangepay-nonce': nonce,
      'exchangepay-signature': signature.digest('hex').toUpperCase(),
    };
  };
  const post = async (headers: Record<string, string>, sent = body): Promise<number> => {
    const response = await fetch(url, { method: 'POST', headers, body: sent });
    await response.arrayBuffer();
    return response.status;
  };
  const headers = headersOf(Date.now());
  expect(await post(headers, '{"cursor": null}')).toBe(401);
  expect(await post(headers)).toBe(200);
  expect(await post(headers)).toBe(401);
  expect(await post(headersOf(Date.now() - 120_000))).toBe(401);
});

it('changes its settings, and refuses what it does not understand', async () => {
  const { url } = world.sandbox;
  expect(await control(url, 'settings', { error_submissions: 0, callback_base_url: null })).toBe(
    200,
  );
  const order = { ...buildOrder('exchange_pay'), amount: amount('1.00009006') };
  expect((await world.patient.get('exchange_pay', 'test').submitPayout(order)).kind).toBe(
    'accepted',
  );
  expect(await control(url, 'settings', { settle_ms: -1 })).toBe(400);
  expect(await control(url, 'outage', { provider: 'exchange_pay', mode: 'test', kind: 'x' })).toBe(
    400,
  );
  expect(await control(url, 'outage', { provider: 'nobody', mode: 'test', kind: null })).toBe(400);
  expect(await control(url, 'transfers/settle', keyOf('exchange_pay', 'po_none'))).toBe(404);
});
