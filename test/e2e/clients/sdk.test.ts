/**
 * The SDK against a real gateway: as a merchant's program imports it, and behind a proxy that loses
 * answers.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  ApiError,
  ConnectionError,
  type Event,
  GatewayClient,
  InsufficientBalanceError,
  InvalidApiKeyError,
  NotFoundError,
  type PayoutRequest,
  UnexpectedResponseError,
  ValidationFailedError,
} from '../../../clients/typescript/src';
import { useSharedGateway } from '../../support/servers/gateway';
import { createProject } from '../../support/merchant/installed-package';
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { acceptedPayout, openMerchant, whenFinal } from '../../support/payout/payout-steps';

const ROOT = resolve(__dirname, '../../..');

const gateway = started(useSharedGateway);
const project = started(createProject);

const clientOf = (client: MerchantClient, baseUrl = client.baseUrl): GatewayClient =>
  new GatewayClient({ baseUrl, key: client.apiKey });

const payout = (overrides: Partial<PayoutRequest> = {}): PayoutRequest => ({
  ...(buildPayout() as unknown as PayoutRequest),
  ...overrides,
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test.concurrent('every operation, typed, with amounts as strings', async () => {
  // Its payouts wait for a person, so that none is approved while it is compared or cancelled.
  const merchant = await openMerchant(gateway, {
    mode: 'test',
    funds: { USDT: '1000' },
    rehearseReview: true,
  });
  const client = clientOf(merchant.client);
  const made = await client.payouts.create(payout({ amount: '10.10000001' }));
  expect(made).toMatchObject({ object: 'payout', amount: '10.10000001', status: 'under_review' });
  const more = [await client.payouts.create(payout()), await client.payouts.create(payout())];
  const all = [made, ...more].map(({ id }) => id).reverse();
  expect((await collect(client.payouts.list({ limit: 1 }))).map(({ id }) => id)).toEqual(all);
  const pages = await collect(client.payouts.list({ limit: 2 }).pages());
  expect(pages.map(({ data }) => data.length)).toEqual([2, 1]);
  const second = await client.payouts.list({ limit: 2, cursor: pages[0]!.nextCursor! }).page();
  expect(second).toEqual(pages[1]);
  expect((await client.payouts.get(made.id)).id).toBe(made.id);
  const last = await client.payouts.create(payout({ reference: 'to-cancel' }));
  expect((await client.payouts.cancel(last.id)).status).toBe('cancelled');

  const payment = await client.payments.create({
    ...{ amount: '5', currency: 'USDT', reference: 'order-1' },
    metadata: { scenario: 'completed' },
  });
  expect(payment.checkout_url).toMatch(/^http/);
  expect(await collect(client.payments.list())).toHaveLength(1);
  expect((await client.payments.get(payment.id)).id).toBe(payment.id);
  expect((await client.payments.verify(payment.id)).id).toBe(payment.id);

  expect((await client.balance.get()).balances[0]!.available).toMatch(/^\d+\.\d{8}$/);
  const [newest] = await collect(client.transactions.list({ source_id: last.id }));
  expect(newest).toMatchObject({ type: 'payout_release' });
  const [rule] = await client.fees.list();
  expect(rule).toHaveProperty('percentage');
  const quote = { direction: 'payout', provider: 'onchain_provider', currency: 'USDT' } as const;
  expect(await client.fees.quote({ ...quote, amount: '100' })).toHaveProperty('service_fee');
  expect((await client.currencies.list()).providers.length).toBeGreaterThan(0);

  const [request] = await waitFor('the request in the log', async () => {
    const found = await collect(client.requestLogs.list({ path: '/api/v1/currencies' }));
    return found.length > 0 && found;
  });
  expect(await client.requestLogs.get(request!.id)).toEqual(request);
});

test.concurrent(
  'follow yields every event once, resumes after an event, and ends with its signal',
  async () => {
    const merchant = await openMerchant(gateway, { mode: 'test' });
    const client = clientOf(merchant.client);
    const id = await acceptedPayout(merchant.client);
    const events: Event[] = [];
    for await (const event of client.events.follow({ object_id: id })) {
      events.push(event);
      if (event.type === 'payout.completed') break;
    }
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(events.at(-1)!.data).toEqual(await whenFinal(merchant.client, id));
    const ending = new AbortController();
    const rest: Event[] = [];
    const following = client.events.follow({ after: events[1]!.id, signal: ending.signal });
    for await (const event of following) {
      rest.push(event);
      if (rest.length === 2) setTimeout(() => ending.abort(), 200);
    }
    expect(rest).toEqual(events.slice(2));
    const { events: none, cursor } = await client.events.feed({ after: 'latest' });
    expect([none, (await client.events.feed({ cursor })).events]).toEqual([[], []]);
    const listed: Event[] = [];
    for await (const event of client.events.list({ object_id: id, limit: 3 })) listed.push(event);
    expect(listed).toEqual([...events].reverse());
  },
);

type Fault = 'lose the answer' | 'refuse' | 'busy' | 'not ours';

/** Between the client and the gateway: treats each request as the next fault says, then passes them on. */
async function startProxy(...faults: Fault[]) {
  const seen: (string | undefined)[] = [];
  const target = new URL(gateway.baseUrl).origin;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push(request.headers['idempotency-key'] as string | undefined);
    const fault = faults.shift();
    if (fault === 'refuse') return request.socket.destroy();
    if (fault === 'busy') return response.writeHead(503, { 'retry-after': '1' }).end('busy');
    if (fault === 'not ours') return response.writeHead(404).end('<h1>no such site</h1>');
    const { authorization = '', 'idempotency-key': key } = request.headers;
    const answered = await fetch(target + (request.url ?? ''), {
      method: request.method ?? 'GET',
      headers: {
        authorization,
        ...(chunks.length > 0 ? { 'content-type': 'application/json' } : {}),
        ...(typeof key === 'string' ? { 'idempotency-key': key } : {}),
      },
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    const text = await answered.text();
    if (fault === 'lose the answer') return request.socket.destroy();
    return response.writeHead(answered.status, { 'content-type': 'application/json' }).end(text);
  };
  const server: Server = createServer((request, response) => void answer(request, response));
  server.unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { seen, faults, baseUrl: `http://127.0.0.1:${port}/api/v1`, stop: () => server.close() };
}

test.concurrent(
  'a payout whose answers are lost is created once, with one key for all attempts',
  async () => {
    const { client } = await openMerchant(gateway, { mode: 'test' });
    const proxy = await startProxy('refuse', 'lose the answer', 'busy');
    const made = await clientOf(client, proxy.baseUrl).payouts.create(payout());
    expect(proxy.seen).toHaveLength(4);
    expect(new Set(proxy.seen).size).toBe(1);
    expect(proxy.seen[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect((await collect(clientOf(client).payouts.list())).map(({ id }) => id)).toEqual([made.id]);
    proxy.stop();
  },
);

test.concurrent(
  'a cancel whose answer was lost succeeds; a cancel of a cancelled payout does not',
  async () => {
    const { client } = await openMerchant(gateway, { mode: 'live' });
    const id = await acceptedPayout(client);
    const proxy = await startProxy('lose the answer');
    expect((await clientOf(client, proxy.baseUrl).payouts.cancel(id)).status).toBe('cancelled');
    const again = clientOf(client).payouts.cancel(id);
    await expect(again).rejects.toMatchObject({ code: 'invalid_state', status: 409 });
    proxy.stop();
  },
);

test.concurrent('refusals are not repeated, and each is an error of its own class', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1' } });
  const proxy = await startProxy();
  const sdk = clientOf(client, proxy.baseUrl);
  const errorOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => null,
      (error: unknown) => error,
    );
  const poor = await errorOf(sdk.payouts.create(payout()));
  expect(poor).toBeInstanceOf(InsufficientBalanceError);
  expect(poor).toBeInstanceOf(ApiError);
  expect(poor).toMatchObject({
    name: 'InsufficientBalanceError',
    status: 422,
    requestId: expect.stringMatching(/^req_/),
    details: { available: '1.00000000', currency: 'USDT' },
  });
  const invalid = await errorOf(sdk.payouts.create(payout({ amount: 'x' })));
  expect(invalid).toBeInstanceOf(ValidationFailedError);
  expect((invalid as ValidationFailedError).details.fields[0]!.field).toBe('amount');
  expect(await errorOf(sdk.payments.get('pay_unknown'))).toBeInstanceOf(NotFoundError);
  const stranger = new GatewayClient({
    baseUrl: gateway.baseUrl,
    key: `sk_test_${'x'.repeat(38)}`,
  });
  expect(await errorOf(stranger.balance.get())).toBeInstanceOf(InvalidApiKeyError);
  expect(proxy.seen).toHaveLength(3);
  proxy.faults.push('not ours');
  expect(await errorOf(sdk.balance.get())).toBeInstanceOf(UnexpectedResponseError);
  proxy.faults.push('busy', 'busy');
  expect(await errorOf(sdk.balance.get({ maxRetries: 1 }))).toMatchObject({ status: 503 });
  proxy.stop();
  const gone = new GatewayClient({ baseUrl: 'http://127.0.0.1:1/api/v1', key: client.apiKey });
  expect(await errorOf(gone.balance.get({ maxRetries: 0 }))).toBeInstanceOf(ConnectionError);
  const stop = AbortSignal.timeout(100);
  expect(await errorOf(gone.balance.get({ signal: stop }))).toBe(stop.reason);
});

test.each([
  [{ baseUrl: 'https://pay.example.com', key: 'sk_test_x' }, /baseUrl must be the URL of the API/],
  [{ baseUrl: 'https://pay.example.com/api/v1', key: 'x' }, /key must be an API key/],
])('%j is refused', (options, message) => {
  expect(() => new GatewayClient(options)).toThrow(message);
});

test.concurrent('the quickstart of docs/guides/sdk.md runs as it stands', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const [, script = ''] = /```js\n([\s\S]*?)```/.exec(
    readFileSync(join(ROOT, 'docs/guides/sdk.md'), 'utf8'),
  )!;
  writeFileSync(join(project.folder, 'quickstart.mjs'), script);
  const env = { GATEWAY_BASE_URL: client.baseUrl, GATEWAY_API_KEY: client.apiKey };
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['quickstart.mjs'], { cwd: project.folder, env });
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toMatch(/^created pay_\w+ http/);
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(/^payment.completed pay_/),
    'available 24.75000000',
    expect.stringMatching(/^missing funds \d+\.\d{8} req_/),
  ]);
});
