/** Request ids, the error envelope on every path, and what is written to the log. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { isId } from '../../../src/domain/ids';
import { createHealth } from '../../../src/shell/api/health';
import { createPrivateApp } from '../../../src/shell/api/health-api';
import { newId } from '../../../src/platform/lib/new-id';
import { type ErrorBody, type Gateway, bearer, errorOf, startHarness } from '../http-harness';
import { changeCollation } from '../../support/servers/database';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

const harness = started(startHarness);
let gateway: Gateway;
let key: { secret: string; accountId: string };

beforeAll(async () => {
  [gateway, key] = await Promise.all([harness.startGateway(), harness.createKey()]);
  await breakPayouts();
});

/** A fault of ours that can be made at will: the gateway's role may no longer read payouts. */
async function breakPayouts() {
  await harness.owner.query('REVOKE SELECT ON payouts FROM gateway_api');
}

function ask(method: string, path: string, headers: Record<string, string> = {}, body = '') {
  const init = { method, headers: { ...bearer(key.secret), ...headers } };
  return fetch(gateway.url + path, body === '' ? init : { ...init, body });
}

const JSON_BODY = { 'Content-Type': 'application/json' };
const payoutPath = (id: string) => `/api/v1/payouts/${id}`;

describe('an error', () => {
  it.each<[number, string, string, string, string?]>([
    [404, 'not_found', 'GET', '/nothing'],
    [404, 'not_found', 'GET', '/api/v1'],
    [404, 'not_found', 'GET', '/api/v1/nothing'],
    [404, 'not_found', 'GET', '/api/v1/balance/x'],
    [404, 'not_found', 'GET', '//evil.example/balance'],
    [404, 'not_found', 'GET', '/%'],
    [404, 'not_found', 'GET', '/api/v1/payouts/%'],
    [404, 'not_found', 'GET', '/api/v1/payouts/%E0%A4%A'],
    [404, 'not_found', 'GET', '/api/v1/payouts/%00'],
    [404, 'not_found', 'GET', payoutPath('po_1')],
    [404, 'not_found', 'GET', payoutPath('acc_01JZ0000000000000000000000')],
    [404, 'not_found', 'POST', `${payoutPath('x'.repeat(40))}/cancel`],
    [405, 'method_not_allowed', 'DELETE', '/api/v1/balance'],
    [405, 'method_not_allowed', 'PROPFIND', '/api/v1/payouts'],
    [405, 'method_not_allowed', 'OPTIONS', '/api/v1/payouts'],
    [413, 'payload_too_large', 'POST', '/api/v1/payouts', 'x'.repeat(100_000)],
    [422, 'validation_failed', 'POST', '/api/v1/payouts', '{}'],
    [500, 'internal_error', 'GET', '/api/v1/payouts'],
    [500, 'internal_error', 'GET', payoutPath(newId('payout'))],
  ])('%i %s is JSON with our request id: %s %s', async (status, code, method, path, body = '') => {
    const headers = { 'X-Request-Id': 'theirs', ...(body === '' ? {} : JSON_BODY) };
    const response = await ask(method, path, headers, body);
    expect(response.status).toBe(status);
    expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    const error = await errorOf(response);
    expect(error).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(isId('request', error.request_id)).toBe(true);
    expect(response.headers.get('X-Request-Id')).toBe(error.request_id);
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
  });

  it('404 says which resource is not there', async () => {
    const unknownPath = await errorOf(await ask('GET', '/api/v1/nothing'));
    expect(unknownPath.details).toEqual({ resource: 'endpoint' });
    const malformedId = await errorOf(await ask('GET', payoutPath('1')));
    expect(malformedId.details).toEqual({ resource: 'payout' });
  });

  it.each([
    ['/api/v1/payouts', 'GET, HEAD, POST'],
    ['/api/v1/balance', 'GET, HEAD'],
    ['/api/v1/payouts/po_1/cancel', 'POST'],
    ['/api/v1/payouts/po_1/release', 'POST'],
    ['/healthz', 'GET, HEAD'],
  ])('405 on %s lists %s', async (path, allow) => {
    expect((await ask('PATCH', path)).headers.get('Allow')).toBe(allow);
  });

  it('500 says nothing of its cause, which is in the log with its stack', async () => {
    const response = await ask('GET', '/api/v1/payouts?reference=r1');
    const text = await response.text();
    expect(text).not.toContain('permission');
    const requestId = response.headers.get('X-Request-Id');
    expect(gateway.log.find((line) => line['request_id'] === requestId && 'err' in line)).toEqual(
      expect.objectContaining({
        route: '/api/v1/payouts',
        err: expect.objectContaining({ stack: expect.stringContaining('permission denied') }),
      }),
    );
  });

  it('needs no key for an unknown path or method', async () => {
    expect((await fetch(`${gateway.url}/api/v1/nothing`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/api/v1/balance`, { method: 'PUT' })).status).toBe(405);
  });
});

describe('what Node would answer by itself', () => {
  it.each([
    ['no Host', 'GET /healthz HTTP/1.1\r\n', 400, 'invalid_request'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n', 400, 'invalid_request'],
    [
      'an unknown Expect',
      'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n',
      417,
      'expectation_failed',
    ],
    ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n', 400, 'invalid_request'],
  ])('%s gets our envelope and request id', async (_, head, status, code) => {
    const answer = await exchange([`${head}Connection: close\r\n\r\n`]);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as ErrorBody;
    expect(body.error).toMatchObject({ code, request_id: expect.stringMatching(/^req_/) });
    expect(answer).toMatch(new RegExp(`\r\nX-Request-Id: ${body.error.request_id}\r\n`, 'i'));
  });

  it('HTTP/1.0 needs no Host', async () => {
    expect(await exchange(['GET /healthz HTTP/1.0\r\n\r\n'])).toMatch(/^HTTP\/1.1 200 /);
  });

  it('in development, a website whose name leads to this machine is refused', async () => {
    const development = await harness.startGateway({ isDevelopment: true });
    const ask = (host: string, { port } = development) =>
      exchange([`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`], { port });
    expect(await ask('evil.example:3000')).toMatch(/^HTTP\/1.1 400 [^]*"invalid_request"/);
    for (const host of ['localhost:3000', '127.0.0.1', 'pay.example.com']) {
      expect(await ask(host)).toMatch(/^HTTP\/1.1 200 /);
    }
    // In production the proxy in front chooses the name.
    expect(await ask('inside.example', gateway)).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each([
    ['rubbish instead of a chunk', 'zzz\r\n'],
    ['rubbish after a chunk', '2\r\n{}zzz\r\n'],
    ['a chunk of any size', 'fffffffffffffffffff\r\n'],
    ['a chunk that is too short', '5\r\nab\r\n0\r\n\r\n'],
    ['a connection that ends', '5\r\nab'],
  ])('a chunked body with %s is not an error of ours', async (_, chunks) => {
    const from = gateway.log.length;
    const heads = ['/api/v1/payouts', '/provider-callbacks/onchain_provider/test'].map(
      (path) =>
        `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${key.secret}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    // Together with the headers, and after them.
    const sent = heads.flatMap((head) => [[head + chunks], [head, chunks]]);
    await Promise.all(sent.map((parts) => exchange(parts, { endAfterMs: 100 })));
    await waitFor('four lines of the log', () => gateway.log.length >= from + 4);
    expect(gateway.log.slice(from).map(({ level }) => level)).toEqual([30, 30, 30, 30]);
  });
});

/** All that the gateway writes until it ends the connection. @param endAfterMs or until we do */
async function exchange(
  parts: readonly string[],
  { endAfterMs, port = gateway.port }: { endAfterMs?: number; port?: number } = {},
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  for (const part of parts) {
    socket.write(part);
    await new Promise((done) => setTimeout(done, 30));
  }
  if (endAfterMs !== undefined) setTimeout(() => socket.end(), endAfterMs);
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

describe.each(['refuses connections', 'is silent'])('without Temporal, which %s', (how) => {
  it('a POST gets its 503 before a client gives up, and the cause is in the log', async () => {
    const silent = createServer((socket) => socket.unref())
      .listen(0, '127.0.0.1')
      .unref();
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const provider = { URL: 'http://127.0.0.1:1', API_KEY: 'key', CALLBACK_SECRET: 'secret' };
    const { url, privateUrl, log } = await harness.startGateway({
      env: {
        ...Object.fromEntries(
          Object.entries(provider).map(([name, value]) => [`EXCHANGE_PAY_TEST_${name}`, value]),
        ),
        ...(how === 'is silent' ? { TEMPORAL_ADDRESS: `127.0.0.1:${port}` } : {}),
      },
    });
    const response = await fetch(`${url}/api/v1/payments`, {
      method: 'POST',
      headers: { ...bearer(key.secret), ...JSON_BODY, 'Idempotency-Key': newId('request') },
      body: JSON.stringify({ amount: '1', currency: 'USDT', reference: how.replaceAll(' ', '_') }),
      // The SDK waits this long.
      signal: AbortSignal.timeout(30_000),
    });
    expect(await errorOf(response)).toMatchObject({
      code: 'service_unavailable',
      details: { reason: 'workflow_engine_unavailable' },
    });
    expect(log.find(({ msg }) => msg === 'request')).toMatchObject({
      error_code: 'service_unavailable',
      error_reason: 'workflow_engine_unavailable',
    });
    expect(await (await fetch(`${privateUrl}/metrics`)).text()).toContain(
      'gateway_refusals_total{code="service_unavailable",reason="workflow_engine_unavailable"} 1\n',
    );
    expect(log.find(({ msg }) => msg === 'no answer from the workflow')).toMatchObject({
      level: 40,
      workflow_id: expect.stringMatching(/^pay_/),
      err: { message: expect.any(String), stack: expect.any(String) },
    });
    silent.close();
  });
});

describe('the list of payouts', () => {
  it.each([
    ['limit=0&status=paid', ['limit format', 'status unsupported']],
    ['state=failed', ['state unsupported']],
    ['cursor=abc', ['cursor format']],
    ['cursor=', ['cursor format']],
    ['currency=usdt&currency=btc', ['currency format']],
    ['created_from=2026-02-30', ['created_from format']],
    ['reference=%ff', ['reference format']],
  ])('refuses ?%s', async (query, expected) => {
    const response = await ask('GET', `/api/v1/payouts?${query}`);
    expect(response.status).toBe(422);
    const { details } = await errorOf(response);
    const fields = details!['fields'] as { field: string; rule: string }[];
    expect(fields.map(({ field, rule }) => `${field} ${rule}`).sort()).toEqual(expected);
  });
});

describe('the log', () => {
  it('has a line per request with its route, its caller and both ids, and no secrets', async () => {
    const theirs = `theirs-${'x'.repeat(500)}`;
    const path = `${payoutPath('po_confidential')}?reference=confidential`;
    const response = await ask('GET', path, { 'X-Request-Id': theirs });
    const requestId = response.headers.get('X-Request-Id');
    const line = gateway.log.find((entry) => entry['request_id'] === requestId);
    expect(line).toMatchObject({
      client_request_id: theirs.slice(0, 128),
      method: 'GET',
      route: '/api/v1/payouts/:id',
      status: 422,
      ms: expect.any(Number),
      account_id: key.accountId,
    });
    await ask('GET', path, { 'X-Request-Id': `key ${key.secret}` });
    const all = JSON.stringify(gateway.log);
    expect(all).toContain('key sk_test_[redacted]');
    expect(all).not.toContain(key.secret.slice(8));
    expect(all).not.toContain('confidential');
  });

  it('has no line for a probe that succeeds, which is asked every two seconds, and one for a failure', async () => {
    const requestIds = await Promise.all(
      ['/healthz', '/healthz?later', '/servingz', '/readyz'].map(async (path) => {
        const response = await fetch(gateway.url + path);
        return [response.status, response.headers.get('X-Request-Id')] as const;
      }),
    );
    expect(requestIds.map(([status]) => status)).toEqual([200, 200, 503, 503]);
    const logged = ([, id]: (typeof requestIds)[number]) =>
      gateway.log.some((entry) => entry['request_id'] === id);
    expect(requestIds.map(logged)).toEqual([false, false, true, true]);
  });
});

describe('for operators', () => {
  it('/healthz, /servingz and /readyz answer without a key, with a request id, and tell nothing else', async () => {
    const health = await fetch(`${gateway.url}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect(health.headers.get('X-Request-Id')).toMatch(/^req_/);
    for (const [path, status] of [
      ['/readyz', 'not_ready'],
      ['/servingz', 'not_serving'],
    ] as const) {
      const answer = await fetch(gateway.url + path);
      expect([answer.status, await answer.json()]).toEqual([503, { status }]);
      expect(answer.headers.get('Retry-After')).toMatch(/^[1-9][0-9]*$/);
    }
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  });

  it('/readyz on the private port says which part fails, and each change is a line of the log', async () => {
    const failing = await startHarness();
    const { privateUrl, log } = await failing.startGateway();
    const before = await fetch(`${privateUrl}/readyz`);
    const temporal = expect.stringMatching(/^Temporal does not answer: /);
    const parts = { postgres: 'ok', migrations: 'ok', collation: 'ok', dashboard: 'ok', temporal };
    expect([before.status, await before.json()]).toEqual([503, { status: 'not_ready', parts }]);
    await changeCollation(failing.database.name);
    expect(await (await fetch(`${privateUrl}/readyz`)).json()).toMatchObject({
      parts: { postgres: 'ok', collation: expect.stringContaining('REINDEX') },
    });
    await failing.cutDatabase();
    const after = await fetch(`${privateUrl}/readyz`);
    expect([after.status, await after.json()]).toEqual([
      503,
      {
        status: 'not_ready',
        parts: expect.objectContaining({
          postgres: expect.stringMatching(/^PostgreSQL does not answer: /),
        }),
      },
    ]);
    await fetch(`${privateUrl}/readyz`);
    const lines = log.filter(({ msg }) => msg === 'not ready');
    expect(lines.map(({ level, parts }) => [level, parts])).toEqual([
      [40, parts],
      [40, { ...parts, collation: expect.stringContaining('REINDEX') as string }],
      [
        40,
        expect.objectContaining({
          postgres: expect.stringMatching(/^PostgreSQL does not answer: /) as string,
        }),
      ],
    ]);
    await failing.stop();
  });

  it('a process gets requests from the first time that it was ready until it stops, whatever fails meanwhile', async () => {
    const own = await startHarness();
    const answers = { getSystemInfo: (): Promise<unknown> => Promise.reject(new Error('away')) };
    const temporal = {
      withDeadline: (_: number, call: () => Promise<unknown>) => call(),
      workflowService: answers,
    } as unknown as Client;
    const logger = pino({ level: 'silent' });
    const health = createHealth({ db: own.db, pagesDb: null, temporal, logger });
    const metrics = () => Promise.resolve({ contentType: 'text/plain', text: '' });
    const server = createPrivateApp(health, metrics, logger).listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const statuses = async () => {
      const asked: number[] = [];
      for (const path of ['/healthz', '/readyz', '/servingz']) {
        asked.push((await fetch(`http://127.0.0.1:${port}${path}`)).status);
      }
      return asked;
    };
    expect(await statuses()).toEqual([200, 503, 503]);
    answers.getSystemInfo = () => Promise.resolve({});
    // A changed collation is for an operator to look at, while everything works.
    await changeCollation(own.database.name);
    expect(await statuses()).toEqual([200, 200, 200]);
    await own.cutDatabase();
    answers.getSystemInfo = () => Promise.reject(new Error('away'));
    expect(await statuses()).toEqual([200, 503, 200]);
    health.drain();
    expect(await statuses()).toEqual([200, 503, 503]);
    server.close();
    await own.stop();
  });

  it('/metrics on the private port counts requests by route pattern, never by path', async () => {
    await ask('GET', payoutPath('po_secret'));
    await ask('GET', '/api/v1/no/such/path');
    const text = await (await fetch(`${gateway.privateUrl}/metrics`)).text();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/payouts\/:id",status="404"\} [1-9]/,
    );
    expect(text).toContain('route="none",status="404"');
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toMatch(/^gateway_refusals_total\{code="not_found"\} [1-9]/m);
    expect(text).not.toContain('po_secret');
  });

  it('the private port serves nothing else', async () => {
    for (const path of ['/api/v1/balance', '/docs', '/provider-callbacks/onchain_provider/test']) {
      expect((await fetch(gateway.privateUrl + path)).status).toBe(404);
    }
  });
});

describe('a provider callback', () => {
  it.each([
    ['is read whatever its media type', 'text/plain', 'x', 404],
    ['is read without a media type', '', 'x', 404],
    ['may be 64 KiB', 'application/json', 'x'.repeat(65_536), 404],
    ['may not be larger', 'application/json', 'x'.repeat(65_537), 413],
  ])('%s', async (_, type, body, status) => {
    // 404: it came through to the service, and this gateway has no providers.
    const path = '/provider-callbacks/onchain_provider/test';
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    expect(response.status).toBe(status);
  });
});
