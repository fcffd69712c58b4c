/**
 * What the adapters make of answers that no honest provider gives. The rule: only a definite word
 * of the provider counts, everything else is unknown, and nothing throws.
 */
import type { ServerResponse } from 'node:http';
import { amount } from '../../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { Limited, PayoutOrder } from '../../../src/adapters/providers/port';
import type { ProviderRegistry } from '../../../src/adapters/providers/registry';
import {
  buildCheckout,
  buildOrder,
  connectProviders,
  IMPATIENT_MS,
  makeCredentials,
  startHttpServer,
} from '../../support/servers/sandbox';

type Respond = (response: ServerResponse) => void;

const credentials = makeCredentials();
let respond: Respond;
let requests: string[] = [];
let server: { url: string; stop(): Promise<void> };
let providers: ProviderRegistry;

beforeAll(async () => {
  server = await startHttpServer((request, response) => {
    requests.push(request.url ?? '');
    request.resume();
    request.on('end', () => {
      respond(response);
    });
  });
  const address = { onchainUrl: server.url, exchangePayUrl: server.url };
  providers = connectProviders(address, credentials, IMPATIENT_MS);
});
beforeEach(() => {
  requests = [];
});
afterAll(async () => {
  await providers.close();
  await server.stop();
});

const SECRET_PART = 'for your eyes only';

/** Each is hostile whatever was asked. */
const ALARM = {
  ...{ id: '1', kind: 'signer_stopped', network: 'ethereum', subject: '0xabc' },
  ...{ detail: 'Nonce 4 is used.', raised_at: '2026-11-22T21:15:00.000Z' },
};

const HOSTILE: Record<string, Respond> = {
  'an empty body': (response) => response.end(),
  'no JSON': answer(200, `<html>${SECRET_PART}</html>`),
  'JSON that breaks off': answer(200, '{"transfer":{"id":"1"'),
  'JSON null': answer(200, 'null'),
  'a JSON array': answer(200, '[]'),
  'nesting without end': answer(200, '['.repeat(200_000)),
  'an empty object': answer(200, '{}'),
  'a prototype in disguise': answer(
    200,
    '{"__proto__":{"status":"SUCCESS","code":"000000","transfer":{}}}',
  ),
  'a declared length that never comes': (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{');
    setTimeout(() => response.destroy(), 20);
  },
  'a connection that closes': (response) => response.socket?.destroy(),
  'something that is not HTTP': (response) => {
    response.socket?.end('SSH-2.0-nothing\r\n');
  },
  'no answer at all': () => undefined,
  'one byte now and then': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => {
      clearInterval(timer);
    });
  },
  'a success without content': (response) => response.writeHead(204).end(),
  'a refused key': answer(401, '{"error":{"code":"unauthorized"}}'),
  'a forbidden address': answer(403, '{"error":{"code":"destination_refused"}}'),
  'a bare 404': answer(404, 'Not Found'),
  'a 404 of somebody else': answer(404, '{"error":{"code":"route_not_found"}}'),
  'a server error with a refusal inside': answer(
    500,
    '{"status":"FAIL","code":"400101","data":null,"error":{"code":"destination_refused"}}',
  ),
  'a gateway time-out': answer(504, '<html></html>'),
  'a success with a refusal inside': answer(
    200,
    '{"status":"FAIL","code":"400101","error":{"code":"destination_refused"}}',
  ),
  'an unknown code with 4xx': answer(422, '{"error":{"code":"something_new"}}'),
  'an unknown code in an envelope': answer(400, '{"status":"FAIL","code":"499999","data":null}'),
};

describe.each(PROVIDER_CODES)('%s', (code) => {
  const provider = () => providers.get(code, 'test');

  it.each(Object.entries(HOSTILE))('does not know what %s means', async (_what, hostile) => {
    respond = hostile;
    const order = buildOrder(code);
    const results = await Promise.all([
      provider().submitPayout(order),
      provider().findPayout(order.reference),
      provider().estimateNetworkFee('USDT', 'tron'),
    ]);
    for (const result of results) {
      expect(result.kind).toBe('unknown');
      expect('reason' in result && result.reason).toMatch(/^[A-Z].*\.$/);
      expectNoSecrets(code, JSON.stringify(result));
    }
    expect(requests).toHaveLength(code === 'onchain_provider' ? 3 : 2);
  });

  it('follows no redirect', async () => {
    respond = (response) => response.writeHead(307, { location: `${server.url}/else` }).end('{}');
    const order = buildOrder(code);
    expect((await provider().submitPayout(order)).kind).toBe('unknown');
    expect((await provider().findPayout(order.reference)).kind).toBe('unknown');
    expect(requests.filter((url) => url.includes('else'))).toEqual([]);
  });

  it('accepts a true answer, so that the rest of this table can fail', async () => {
    const order = buildOrder(code);
    respond = answer(200, trueAnswer(code, order));
    expect((await provider().submitPayout(order)).kind).toBe('accepted');
    expect((await provider().findPayout(order.reference)).kind).toBe('found');
  });

  it.each([[100], [102], [103], [100, 103]])(
    'passes interim answers over (%s)',
    async (...codes: number[]) => {
      const order = buildOrder(code);
      const interim = codes.map((one) => `HTTP/1.1 ${one} Interim\r\n\r\n`).join('');
      respond = (response) => {
        response.socket?.write(interim);
        answer(200, trueAnswer(code, order))(response);
      };
      expect((await provider().submitPayout(order)).kind).toBe('accepted');
      expect((await provider().findPayout(order.reference)).kind).toBe('found');
    },
  );

  it('reads no more than 256 KiB, however true', async () => {
    const order = buildOrder(code);
    const padding = `{"padding":"${'x'.repeat(256 * 1024)}",`;
    respond = answer(200, trueAnswer(code, order).replace('{', padding));
    const reason = 'The provider answered with too much data.';
    expect(await provider().submitPayout(order)).toEqual({ kind: 'unknown', reason });
    expect(await provider().findPayout(order.reference)).toEqual({ kind: 'unknown', reason });
  });

  it.each(['12.5', '0.1e2', '10'])(
    'does not read the JSON number %s as an amount',
    async (number) => {
      const order = buildOrder(code);
      respond = answer(200, trueAnswer(code, order).replace(`"${order.amount}"`, number));
      expect((await provider().submitPayout(order)).kind).toBe('unknown');
      expect((await provider().findPayout(order.reference)).kind).toBe('unknown');
    },
  );

  it.each(['-10.50000000', '10.5 ', '1e1', '0x10', '', '10.123456789', 'NaN', '1'.repeat(40)])(
    'does not read the text "%s" as an amount',
    async (text) => {
      const order = buildOrder(code);
      respond = answer(200, trueAnswer(code, order).replace(`"${order.amount}"`, `"${text}"`));
      expect((await provider().submitPayout(order)).kind).toBe('unknown');
      expect((await provider().findPayout(order.reference)).kind).toBe('unknown');
    },
  );

  it('does not take an answer about another reference', async () => {
    const order = buildOrder(code);
    respond = answer(200, trueAnswer(code, buildOrder(code)));
    expect((await provider().submitPayout(order)).kind).toBe('unknown');
    expect((await provider().findPayout(order.reference)).kind).toBe('unknown');
  });

  it.each([
    ['amount', { amount: amount('10.50000001') }],
    ['currency', { currency: 'USDC' }],
  ])('takes no other %s for an acceptance, and shows it when asked', async (_what, change) => {
    const order = buildOrder(code);
    const held = { ...order, ...change };
    respond = answer(200, trueAnswer(code, held));
    expect((await provider().submitPayout(order)).kind).toBe('unknown');
    expect(await provider().findPayout(order.reference)).toMatchObject({
      kind: 'found',
      transfer: { amount: held.amount, currency: held.currency },
    });
  });

  it('does not take a status that it does not know for one that it knows', async () => {
    const order = buildOrder(code);
    respond = answer(200, trueAnswer(code, order).replace(/"(queued|PROCESSING)"/, '"toString"'));
    expect((await provider().submitPayout(order)).kind).toBe('unknown');
    expect((await provider().findPayout(order.reference)).kind).toBe('unknown');
  });
});

describe.each(PROVIDER_CODES)('%s and 429', (code) => {
  const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();
  const yesterday = new Date(Date.now() - 86_400_000).toUTCString();

  it.each([
    ['7', 7_000, 7_000],
    ['0', 1_000, 1_000],
    ['86400', 300_000, 300_000],
    [inTwoMinutes, 60_000, 120_000],
    [yesterday, 1_000, 1_000],
    ['soon', 5_000, 5_000],
    ['-1', 5_000, 5_000],
    [undefined, 5_000, 5_000],
  ])('nothing was taken: Retry-After %s', async (retryAfter, min, max) => {
    const provider = providers.get(code, 'test');
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    // The body does not matter: a proxy may have answered.
    respond = (response) => response.writeHead(429, headers).end('<html>slow down</html>');
    const order = buildOrder(code);
    const checkout = buildCheckout(code);
    const results = await Promise.all([
      provider.submitPayout(order),
      provider.findPayout(order.reference),
      provider.openCheckout(checkout),
      provider.findCheckout(checkout.reference),
      provider.cancelCheckout(checkout.reference),
      provider.releaseHold(checkout.reference, 'reject'),
      provider.listPayouts({ changedFrom: null, cursor: null }),
      provider.listCheckouts({ changedFrom: null, cursor: null }),
      ...(code === 'onchain_provider'
        ? [
            provider.estimateNetworkFee('USDT', 'tron'),
            provider.listAlarms(),
            provider.listWallets(),
            provider.listUnknownTransactions(),
            provider.claimTransaction(buildOrder(code), '0x1'),
          ]
        : [provider.refundCheckout(checkout.reference, 're_1', amount('1'))]),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({
        kind: 'limited',
        reason: 'The provider limits the rate of requests.',
      });
      const { retryAfterMs } = result as Limited;
      expect(retryAfterMs).toBeGreaterThanOrEqual(min);
      expect(retryAfterMs).toBeLessThanOrEqual(max);
    }
  });

  it('needs no end of the body', async () => {
    respond = (response) => {
      response.writeHead(429, { 'retry-after': '2', 'content-length': '1000' }).write('{');
    };
    const result = await providers.get(code, 'test').submitPayout(buildOrder(code));
    expect(result).toMatchObject({ kind: 'limited', retryAfterMs: 2_000 });
  });
});

it.each([
  ['no list', { alarms: 'none' }],
  ['an alarm without an id', { alarms: [{ ...ALARM, id: null }] }],
  ['the same alarm twice', { alarms: [ALARM, ALARM] }],
  ['an alarm without a time', { alarms: [{ ...ALARM, raised_at: 'now' }] }],
])('takes no alarms from an answer with %s', async (_, body) => {
  respond = (response) => response.end(JSON.stringify(body));
  expect((await providers.get('onchain_provider', 'test').listAlarms()).kind).toBe('unknown');
});

it.each([
  ['no list', { unknown_transactions: 'none' }],
  ['a transaction without a hash', { unknown_transactions: [{ network: 'ethereum' }] }],
  ['the same hash twice', { unknown_transactions: [{ tx_hash: '0x1' }, { tx_hash: '0x1' }] }],
])('takes no unknown transactions from an answer with %s', async (_, body) => {
  respond = (response) => response.end(JSON.stringify(body));
  const asked = await providers.get('onchain_provider', 'test').listUnknownTransactions();
  expect(asked.kind).toBe('unknown');
});

it.each([
  ['a proxy’s 404', 404, { error: 'not found' }],
  ['another order', 200, { transfer: { client_reference: 'po_other' } }],
])('does not know what a claim of a transaction has done after %s', async (_, status, body) => {
  respond = answer(status, JSON.stringify(body));
  const onchain = providers.get('onchain_provider', 'test');
  const claim = await onchain.claimTransaction(buildOrder('onchain_provider'), '0x1');
  expect(claim.kind).toBe('unknown');
});

it('takes no fee in another currency or for another network', async () => {
  const onchain = providers.get('onchain_provider', 'test');
  const estimate = { asset: 'USDT', network: 'tron', fee: '1.00', fee_asset: 'USDT' };
  const ask = (change: Record<string, unknown>) => {
    respond = answer(200, JSON.stringify({ ...estimate, ...change }));
    return onchain.estimateNetworkFee('USDT', 'tron');
  };
  const understood = { kind: 'estimate', fee: '1.00000000' };
  expect(await ask({ decimals: 6 })).toEqual({ ...understood, decimals: 6 });
  for (const decimals of [undefined, null, -1, 6.5, '6', 1e9]) {
    expect(await ask({ decimals })).toEqual({ ...understood, decimals: null });
  }
  for (const change of [{ fee_asset: 'TRX' }, { network: 'base' }, { asset: 'USDC' }, { fee: 1 }]) {
    expect((await ask(change)).kind).toBe('unknown');
  }
});

it('does not know anything of a provider that does not listen', async () => {
  const closed = await startHttpServer(() => undefined);
  await closed.stop();
  const address = { onchainUrl: closed.url, exchangePayUrl: closed.url };
  const unreachable = connectProviders(address, credentials);
  for (const code of PROVIDER_CODES) {
    const result = await unreachable.get(code, 'live').submitPayout(buildOrder(code));
    expect(result).toEqual({
      kind: 'unknown',
      reason: 'The connection to the provider failed (ECONNREFUSED).',
    });
  }
  await unreachable.close();
});

function answer(status: number, body: string): Respond {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
}

function trueAnswer(code: ProviderCode, order: PayoutOrder): string {
  const { reference, currency } = order;
  if (code === 'onchain_provider') {
    const state = { id: 'otr_1', status: 'queued', tx_hash: null, failure_code: null };
    const transfer = {
      ...state,
      client_reference: reference,
      amount: order.amount,
      asset: currency,
    };
    return JSON.stringify({ transfer });
  }
  const data = {
    transferId: '91',
    merchantTransferId: reference,
    transferStatus: 'PROCESSING',
    transferAmount: order.amount,
    currency,
    failCode: null,
    createTime: 1,
  };
  return JSON.stringify({ status: 'SUCCESS', code: '000000', data, errorMessage: null });
}

function expectNoSecrets(code: ProviderCode, text: string): void {
  const own = credentials[code].test;
  for (const secret of [own?.apiKey, own?.callbackSecret, SECRET_PART, server.url]) {
    expect(text).not.toContain(secret);
  }
}
