/** The log of API requests: what is kept, for whom, for how long, and what it costs. */
import { cleanUpKeys } from '../../../activities/clean-up';
import { connect } from '../../../src/db/connect';
import { type LoggedRequest, writeRequestLog } from '../../../src/db/request-log/request-log';
import { SCOPES } from '../../../src/domain/scopes';
import { newId } from '../../../src/platform/lib/new-id';
import { makeUser, PageClient } from '../../support/merchant/page-client';
import { bearer, startHarness } from '../http-harness';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let accountId: string;
let secret: string;
let client: PageClient;

beforeAll(async () => {
  ({ accountId, secret } = await harness.createKey());
  client = new PageClient(gateway.url);
  await client.signIn(await makeUser(harness.owner, 'merchant', 'viewer', accountId));
});

const idOf = (response: Response) => response.headers.get('x-request-id')!;

async function pageOf(id: string): Promise<string> {
  return waitFor(`the page of ${id}`, async () => {
    const response = await client.get(`/dashboard/test/requests/${id}`);
    return response.status === 200 ? response.text() : undefined;
  });
}

function buildEntry(overrides: Partial<LoggedRequest>): LoggedRequest {
  return {
    id: newId('request'),
    accountId,
    mode: 'test',
    apiKeyId: 'key_x',
    at: new Date(),
    method: 'GET',
    path: '/api/v1/balance',
    query: '',
    status: 200,
    replayed: false,
    idempotencyKey: null,
    address: '',
    userAgent: '',
    durationMs: 1,
    requestBody: null,
    responseBody: null,
    ...overrides,
  };
}

test('a request is found by its id, with its body but without secrets', async () => {
  const probe = '<script>alert(1)</script>';
  const response = await fetch(`${gateway.url}/api/v1/payouts?x=${encodeURIComponent(probe)}`, {
    method: 'POST',
    headers: {
      ...bearer(secret),
      'content-type': 'application/json',
      'idempotency-key': probe,
      'user-agent': probe,
    },
    body: JSON.stringify({
      amount: '-1',
      description: `${probe} ${secret}`,
      metadata: { client_secret: 'confidential "1"', note: 'a\0b \ud800' },
    }),
  });
  expect(response.status).toBe(422);
  const html = await pageOf(idOf(response));
  expect(html).not.toContain(probe);
  expect(html).toContain('&lt;script>alert(1)');
  expect(html).toContain('&quot;amount&quot;: &quot;-1&quot;');
  expect(html).toContain('validation_failed');
  expect(html).not.toContain(secret.slice(8));
  expect(html).not.toContain('confidential');
  expect(html).toContain('[redacted]');
  const found = await client.get(`/dashboard/test/search?q=${idOf(response)}`);
  expect(found.headers.get('location')).toBe(`/dashboard/test/requests/${idOf(response)}`);
  const filtered = await client.get(`/dashboard/test/requests?id=${idOf(response)}`);
  expect(filtered.headers.get('location')).toBe(`/dashboard/test/requests/${idOf(response)}`);
});

test('the answer of a success is kept with links to its objects, and without its secrets', async () => {
  const { secret: manager } = await harness.createKey({
    accountId,
    scopes: ['api_keys:write', 'balance:read'],
  });
  const created = await fetch(`${gateway.url}/api/v1/api_keys`, {
    method: 'POST',
    headers: { ...bearer(manager), 'content-type': 'application/json', 'idempotency-key': 'k1' },
    body: JSON.stringify({ name: 'Till', scopes: ['balance:read'] }),
  });
  const { data } = (await created.json()) as { data: { id: string; secret: string } };
  expect(created.status).toBe(201);
  const html = await pageOf(idOf(created));
  expect(html).toContain(`href="/dashboard/test/keys/${data.id}"`);
  expect(html).toContain('&quot;name&quot;: &quot;Till&quot;');
  expect(html).not.toContain(data.secret.slice(8));
  const missing = await fetch(`${gateway.url}/api/v1/payouts/po_unknown`, {
    headers: bearer(secret),
  });
  expect(await pageOf(idOf(missing))).toContain('not_found');
});

test('a request to an unknown path is kept for the account of its key, and is nobody’s without one', async () => {
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(`${gateway.url}${path}`, { headers });
  const unknown = await ask('/api/v1/payouts/unknown/path?x=1', bearer(secret));
  const wrongMethod = await fetch(`${gateway.url}/api/v1/balance`, {
    method: 'DELETE',
    headers: bearer(secret),
  });
  expect([unknown.status, wrongMethod.status]).toEqual([404, 405]);
  expect(await pageOf(idOf(unknown))).toContain('/api/v1/payouts/unknown/path');
  expect(await pageOf(idOf(wrongMethod))).toContain('method_not_allowed');
  const others = [
    await ask('/api/v1/nothing', {}),
    await ask('/api/v1/nothing', bearer(`${secret}x`)),
    await ask('/nothing', bearer(secret)),
  ];
  // Requests are kept in their order.
  await pageOf(idOf(await ask('/api/v1/nothing', bearer(secret))));
  for (const other of others) {
    expect(other.status).toBe(404);
    expect((await client.get(`/dashboard/test/requests/${idOf(other)}`)).status).toBe(404);
  }
});

test('a reused idempotency key: the page shows which fields differ', async () => {
  const probe = '<b>bold</b>';
  const reused = {
    method: 'POST',
    path: '/api/v1/payouts',
    idempotencyKey: newId('request'),
    status: 422,
    responseBody: '{"error":{"code":"idempotency_key_reused"}}',
  };
  const body = { amount: '10', destination: { value: 'T1' }, secret: '[redacted]', list: [1] };
  const first = buildEntry({
    ...reused,
    status: 201,
    responseBody: null,
    requestBody: JSON.stringify(body),
  });
  const write = async (requestBody: string, accountOfIt = accountId) => {
    const entry = buildEntry({ ...reused, accountId: accountOfIt, requestBody });
    await writeRequestLog(harness.owner, [entry]);
    return entry.id;
  };
  // The first request of another account is not found.
  await writeRequestLog(harness.owner, [
    { ...first, id: newId('request'), accountId: 'acc_other' },
  ]);
  const changed = { ...body, amount: probe, destination: { value: 'T1', memo: '7' } };
  const unknown = await pageOf(await write(JSON.stringify(changed)));
  expect(unknown).not.toContain('What differs');
  await writeRequestLog(harness.owner, [{ ...first, id: newId('request') }]);
  const html = await pageOf(await write(JSON.stringify(changed)));
  const cells = [...html.matchAll(/<code[^>]*>([^<]*)<\/code>/g)].map(([, cell]) => cell);
  expect(cells).toEqual(
    expect.arrayContaining(['amount', '&quot;10&quot;', 'destination.memo', '&quot;7&quot;']),
  );
  expect(html).toContain('Not set');
  expect(cells).not.toContain('destination.value');
  expect(html).not.toContain(probe);
  const shortened = await pageOf(await write('{"amount":"1'));
  expect(shortened).toContain('A stored body was shortened');
  const same = await pageOf(await write(JSON.stringify(body)));
  expect(same).toContain('The stored bodies are the same');
});

test('the list is filtered, and nobody sees the requests of others', async () => {
  const live = await harness.createKey({ accountId, mode: 'live' });
  const other = await harness.createKey();
  const ask = (path: string, key: string) =>
    fetch(`${gateway.url}/api/v1${path}`, { headers: bearer(key) });
  const ok = idOf(await ask('/balance', secret));
  const missing = idOf(await ask(`/payouts/${newId('payout')}`, secret));
  const unseen = [idOf(await ask('/balance', live.secret)), idOf(await ask('/fees', other.secret))];
  await pageOf(missing);
  const list = async (query: string) =>
    (await client.get(`/dashboard/test/requests${query}`)).text();
  expect(await list('')).toContain(ok);
  for (const id of unseen) {
    expect(await list('')).not.toContain(id);
    expect((await client.get(`/dashboard/test/requests/${id}`)).status).toBe(404);
  }
  expect(await list('?status=2xx')).toContain(ok);
  expect(await list('?status=2xx')).not.toContain(missing);
  expect(await list('?status=4xx&path=/api/v1/payouts')).toContain(missing);
  expect(await list('?path=/api/v1/balance&method=GET')).not.toContain(missing);
  expect(await list('?status=5xx')).toContain('No requests match these filters');
  expect(await list("?path=%25'")).toContain('No requests match these filters');
  const statuses = ['method=x', 'status=9xx'].map(
    async (wrong) => (await client.get(`/dashboard/test/requests?${wrong}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([422, 422]);
});

test('the API shows the requests of the account and mode, filtered and page by page [endpoint GET /request_logs] [endpoint GET /request_logs/{id}]', async () => {
  const own = await harness.createKey();
  const other = await harness.createKey();
  const live = await harness.createKey({ accountId: own.accountId, mode: 'live' });
  const second = await harness.createKey({ accountId: own.accountId });
  const ask = async (path: string, key = own.secret, init: RequestInit = {}) => {
    const headers = { ...bearer(key), ...(init.headers as Record<string, string>) };
    const answer = await fetch(`${gateway.url}/api/v1${path}`, { ...init, headers });
    return { id: idOf(answer), status: answer.status, json: await answer.json() };
  };
  const first = await ask('/balance');
  const missing = await ask(`/payouts/${newId('payout')}?x=sk_live_hidden`, second.secret);
  const unseen = [await ask('/balance', live.secret), await ask('/fees', other.secret)];
  const refused = await ask('/payouts', own.secret, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'order 7' },
    body: JSON.stringify({ amount: '-1', metadata: { password: 'hidden' } }),
  });
  const logs = (query = '', key?: string) => ask(`/request_logs${query}`, key);
  const idsOf = async (query = '') =>
    ((await logs(query)).json.data as { id: string }[]).map(({ id }) => id);
  await waitFor('the last request', async () => (await idsOf()).includes(refused.id));
  // The requests that read the log are not in it.
  expect(await idsOf()).toEqual([refused.id, missing.id, first.id]);
  expect((await logs(`/${refused.id}`)).json.data).toMatchObject({
    object: 'request_log',
    mode: 'test',
    api_key_id: own.id,
    method: 'POST',
    path: '/api/v1/payouts',
    status: 422,
    idempotency_key: 'order 7',
    request_body: '{"amount":"-1","metadata":{"password":"[redacted]"}}',
    response_body: expect.stringContaining('validation_failed'),
  });
  const { json } = await logs(`/${missing.id}`);
  expect(json.data).toMatchObject({ api_key_id: second.id, status: 422, request_body: null });
  expect(JSON.stringify(json)).not.toContain('hidden');
  expect(await idsOf('?status=4xx&method=POST')).toEqual([refused.id]);
  expect(await idsOf('?status=422&path=/api/v1/payouts/')).toEqual([missing.id]);
  expect(await idsOf('?status=200')).toEqual([first.id]);
  expect(await idsOf('?status=5xx')).toEqual([]);
  const at = json.data.created_at as string;
  expect(await idsOf(`?created_from=${at}`)).toEqual([refused.id, missing.id]);
  expect(await idsOf(`?created_to=${at}`)).toEqual([missing.id, first.id]);
  const page = (await logs('?limit=2')).json;
  const next = `?limit=2&cursor=${page.meta.next_cursor}`;
  expect([page.data.length, await idsOf(next)]).toEqual([2, [first.id]]);
  expect((await logs(`${next}&status=4xx`)).status).toBe(422);
  for (const { id } of unseen) expect((await logs(`/${id}`)).status).toBe(404);
  expect((await logs('/req_1')).json.error.code).toBe('not_found');
  for (const query of ['?status=6xx', '?status=4', '?method=PUT', '?path=x', '?page=2']) {
    expect([query, (await logs(query)).status]).toEqual([query, 422]);
  }
  const scopes = SCOPES.filter((scope) => scope !== 'request_logs:read');
  const weak = await harness.createKey({ accountId: own.accountId, scopes });
  const denied = await logs('', weak.secret);
  expect([denied.status, denied.json.error.details]).toEqual([
    403,
    { required_scope: 'request_logs:read' },
  ]);
  // A refused request to read it is in it.
  await waitFor('the refused request', async () =>
    (await idsOf('?status=403')).includes(denied.id),
  );
});

test('requests do not wait for the log, and it catches up', async () => {
  let late = '';
  await harness.owner.transaction(async (tx) => {
    await tx.query('LOCK TABLE request_log');
    const answer = await fetch(`${gateway.url}/api/v1/balance`, { headers: bearer(secret) });
    expect(answer.status).toBe(200);
    late = idOf(answer);
  });
  await pageOf(late);
});

test('a day of an account has a maximum, for successes and for failures', async () => {
  const id = newId('account');
  const entry = (status: number) => buildEntry({ accountId: id, status });
  const api = connect({ url: harness.database.apiUrl, size: 1, applicationName: 'test' });
  const write = (...statuses: number[]) => writeRequestLog(api, statuses.map(entry), 2);
  expect(await write(200, 200, 200, 404)).toBe(3);
  expect(await write(200, 500, 500)).toBe(1);
  expect(await write(200, 404)).toBe(0);
  await api.destroy();
});

test('the day after next is emptied, and the last seven days stay', async () => {
  const insert = (id: string, daysAgo: number) =>
    harness.owner.query(
      `INSERT INTO request_log SELECT ?, floor(extract(epoch FROM at) / 86400)::integer % 9, ?, 'test',
              'key_x', at, 'GET', '/', '', 200, false, NULL, '', '', 1, NULL, NULL
         FROM (SELECT now() - ? * interval '1 day' AS at) AS time`,
      [id, accountId, daysAgo],
    );
  const [old, kept] = [newId('request'), newId('request')];
  await insert(old, 8);
  await insert(kept, 6);
  expect((await client.get(`/dashboard/test/requests/${old}`)).status).toBe(404);
  const worker = connect({ url: harness.database.workerUrl, size: 1, applicationName: 'test' });
  await cleanUpKeys(worker);
  await worker.destroy();
  const left = await harness.owner.query<{ id: string }>(
    'SELECT id FROM request_log WHERE id IN (?, ?)',
    [old, kept],
  );
  expect(left).toEqual([{ id: kept }]);
  expect((await client.get(`/dashboard/test/requests/${kept}`)).status).toBe(200);
});

test('what is left out is counted in a metric', async () => {
  const text = await (await fetch(`${gateway.privateUrl}/metrics`)).text();
  expect(text).toContain('request_log_dropped_total{reason="buffer_full"} 0');
  expect(text).toContain('request_log_dropped_total{reason="write_failed"} 0');
});

test('no spelling of a secret is stored, in the query, the path, the body or a header', async () => {
  const hidden = 'Zq7hidden';
  const key = `sk_live_${hidden}`;
  const query = [
    `a=Bearer%20${key}`,
    `b=api_key_${key}`,
    `c=%73k_live_${hidden}`,
    `password=${hidden}`,
  ];
  const body =
    `{"a":"Bearer\\n${key}","b":"\\u0073k_live_${hidden}","c":"x_${key}","password":4711,` +
    `"api_tokens":["${hidden}",{"deep":"${hidden}"}],"\\u0070assphrase":"${hidden}","d":"kept"}`;
  const response = await fetch(
    `${gateway.url}/api/v1/payouts?${query.join('&')}&passphrase%5B%5D=${hidden}&e=kept`,
    {
      method: 'POST',
      headers: {
        ...bearer(secret),
        'content-type': 'application/json',
        'idempotency-key': `x_${key}`,
        'user-agent': `agent_${key}`,
      },
      body,
    },
  );
  expect(response.status).toBe(422);
  await pageOf(idOf(response));
  const [stored] = await harness.owner.query<Record<string, unknown>>(
    'SELECT * FROM request_log WHERE id = ?',
    [idOf(response)],
  );
  const text = JSON.stringify(stored);
  expect(text).not.toContain(hidden);
  expect(text).not.toContain('4711');
  expect(stored?.['query']).toContain('e=kept');
  expect(stored?.['requestBody']).toContain('"d":"kept"');
});
