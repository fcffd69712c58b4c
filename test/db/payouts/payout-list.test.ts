/** GET /payouts and GET /payouts/{id} (the specification; decisions/api#lists). */
import { newId } from '../../../src/platform/lib/new-id';
import {
  buildPayout,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { acceptedPayout, openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

const createMany = (client: MerchantClient, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => acceptedPayout(client, { amount: '1' })));

const idsOf = (page: { json: { data: { id: string }[] } }) => page.json.data.map(({ id }) => id);

/** Follows links.next, as a client would, and gives every id it met, in order. */
async function walk(
  client: MerchantClient,
  query: string,
  between: (page: number) => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = [];
  let path = `/payouts?${query}`;
  for (let page = 0; ; page++) {
    const answer = await client.get(path);
    expect(answer.status).toBe(200);
    ids.push(...idsOf(answer));
    const { next } = answer.json.links;
    if (next === null) {
      expect(answer.json.meta.next_cursor).toBeNull();
      return ids;
    }
    const url = new URL(next);
    expect(url.searchParams.get('cursor')).toBe(answer.json.meta.next_cursor);
    path = url.pathname.replace('/api/v1', '') + url.search;
    await between(page);
  }
}

test('the list has the payouts newest first, each as GET shows it [endpoint GET /payouts] [endpoint GET /payouts/{id}]', async () => {
  const { client } = await openMerchant(gateway);
  const created: unknown[] = [];
  for (let index = 0; index < 3; index++) {
    created.unshift((await client.createPayout(buildPayout())).json.data);
  }
  const { json } = await client.get('/payouts');
  expect(json.data).toEqual(created);
  for (const payout of json.data) {
    expect((await client.get(`/payouts/${payout.id}`)).json).toEqual({ data: payout });
  }
  expect(json.links).toEqual({ first: null, last: null, prev: null, next: null });
  expect(json.meta).toEqual({
    path: expect.stringMatching(/\/api\/v1\/payouts$/),
    per_page: 25,
    next_cursor: null,
    prev_cursor: null,
  });
});

test('an account without payouts has an empty list', async () => {
  const { client } = await openMerchant(gateway, { funds: {} });
  expect((await client.get('/payouts')).json.data).toEqual([]);
});

test('pages meet every payout exactly once while new ones are made', async () => {
  const { client } = await openMerchant(gateway);
  const before = await createMany(client, 23);
  const during: string[] = [];
  const met = await walk(client, 'limit=4', async () => {
    during.push(...(await createMany(client, 2)));
  });
  expect(during.length).toBeGreaterThan(0);
  expect(new Set(met).size).toBe(met.length);
  expect(new Set(met)).toEqual(new Set(before));
  // Nobody is met twice or missed by a walk that begins now.
  expect(new Set(await walk(client, 'limit=7'))).toEqual(new Set([...before, ...during]));
});

test('payouts of the same moment are not lost between pages', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const ids = await createMany(client, 9);
  await gateway.db.query(
    `UPDATE payouts SET created_at = '2026-03-01T12:00:00.123456Z' WHERE account_id = ?`,
    [accountId],
  );
  expect(await walk(client, 'limit=2')).toEqual(ids.sort().reverse());
});

test('each filter keeps what it names, also over pages', async () => {
  const { client } = await openMerchant(gateway, {
    funds: { USDT: '100', USDC: '100' },
  });
  const create = (overrides: object) => acceptedPayout(client, { amount: '1', ...overrides });
  const reference = `ref-${randomKey()}`;
  const named = await create({ reference });
  const exchange = await create({
    destination: { type: 'exchange_id', value: '123456789' },
    network: undefined,
  });
  const usdc = await create({ currency: 'USDC' });
  const cancelled = await create({});
  await client.post(`/payouts/${cancelled}/cancel`);
  const times = {
    [named]: '2026-03-01T23:59:59.999999Z',
    [exchange]: '2026-03-02T00:00:00Z',
    [usdc]: '2026-03-02T23:59:59.999999Z',
    [cancelled]: '2026-03-03T00:00:00Z',
  };
  for (const [id, time] of Object.entries(times)) {
    await gateway.db.query('UPDATE payouts SET created_at = ? WHERE id = ?', [time, id]);
  }
  const cases: [query: string, ids: string[]][] = [
    ['status=cancelled', [cancelled]],
    ['status=under_review', [usdc, exchange, named]],
    ['status=cancelled,under_review', [cancelled, usdc, exchange, named]],
    ['status=completed', []],
    [`reference=${reference}`, [named]],
    ['reference=unknown', []],
    ['currency=USDC', [usdc]],
    ['provider=exchange_pay', [exchange]],
    ['provider=onchain_provider&currency=USDT', [cancelled, named]],
    ['created_from=2026-03-02&created_to=2026-03-02', [usdc, exchange]],
    ['created_from=2026-03-03T00:00:00Z', [cancelled]],
    ['created_to=2026-03-01T23:59:59.999999Z', [named]],
    ['created_to=2026-03-01T23:59:59Z', []],
    ['created_from=2026-03-02T01:00:00%2B01:00&created_to=2026-03-02T00:00:00Z', [exchange]],
  ];
  for (const [query, ids] of cases) {
    expect({ query, ids: idsOf(await client.get(`/payouts?${query}`)) }).toEqual({ query, ids });
    expect({ query, ids: await walk(client, `limit=1&${query}`) }).toEqual({ query, ids });
  }
});

test.each([
  ['limit', 'limit=0'],
  ['limit', 'limit=101'],
  ['limit', 'limit=1.5'],
  ['limit', 'limit=ten'],
  ['limit', 'limit=1&limit=2'],
  ['state', 'state=failed'],
  ['status', 'status=paid'],
  ['status', 'status='],
  ['reference', 'reference=a%20b'],
  ['currency', 'currency=usdt'],
  ['provider', 'provider=bank'],
  ['created_from', 'created_from=yesterday'],
  ['created_to', 'created_to=2026-02-30'],
  ['created_to', 'created_to=2026-03-01T12:00:00'],
  ['cursor', 'cursor='],
  ['cursor', 'cursor=abc'],
])('a bad %s is refused: %s', async (field, query) => {
  const { client } = await openMerchant(gateway, { funds: {} });
  const { status, json } = await client.get(`/payouts?${query}`);
  expect({ status, code: json.error.code, field: json.error.details.fields[0].field }).toEqual({
    status: 422,
    code: 'validation_failed',
    field,
  });
});

test('a cursor serves only the list it was made for, as it was made', async () => {
  const { client, otherMode } = await openMerchant(gateway);
  const stranger = await openMerchant(gateway);
  await createMany(client, 3);
  const page = await client.get('/payouts?limit=1&currency=USDT');
  const cursor: string = page.json.meta.next_cursor;
  const flipped = cursor.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const tail = cursor.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'));
  const attempts: [MerchantClient, string][] = [
    [client, `currency=USDT&cursor=${flipped}`],
    [client, `currency=USDT&cursor=${tail}`],
    [client, `currency=USDT&cursor=${cursor.slice(0, -4)}`],
    [client, `currency=USDT&cursor=${cursor}AAAA`],
    [client, `cursor=${cursor}`],
    [client, `currency=USDC&cursor=${cursor}`],
    [client, `currency=USDT&status=cancelled&cursor=${cursor}`],
    [stranger.client, `currency=USDT&cursor=${cursor}`],
    [otherMode, `currency=USDT&cursor=${cursor}`],
  ];
  for (const [who, query] of attempts) {
    const { status, json } = await who.get(`/payouts?limit=1&${query}`);
    expect({ query, status, code: json.error?.code }).toEqual({
      query,
      status: 422,
      code: 'validation_failed',
    });
  }
  // Another page size is not another list.
  expect((await client.get(`/payouts?limit=2&currency=USDT&cursor=${cursor}`)).status).toBe(200);
});

test('no list and no id leads to another account’s or the other mode’s payouts', async () => {
  const owner = await openMerchant(gateway);
  const stranger = await openMerchant(gateway);
  const body = buildPayout();
  const { id } = (await owner.client.createPayout(body)).json.data;
  for (const who of [stranger.client, stranger.otherMode, owner.otherMode]) {
    expect((await who.get('/payouts')).json.data).toEqual([]);
    expect((await who.get(`/payouts?reference=${String(body['reference'])}`)).json.data).toEqual(
      [],
    );
  }
  const answers = await Promise.all([
    stranger.client.get(`/payouts/${id}`),
    owner.otherMode.get(`/payouts/${id}`),
    owner.client.get(`/payouts/${newId('payout')}`),
    owner.client.get(`/payouts/${String(id).toLowerCase()}`),
    owner.client.get('/payouts/1'),
    owner.client.get(`/payouts/${id}%00`),
  ]);
  const [first] = answers;
  for (const { status, json } of answers) {
    expect(status).toBe(404);
    expect({ ...json.error, request_id: null }).toEqual({ ...first.json.error, request_id: null });
  }
  expect(first.json.error).toMatchObject({ code: 'not_found', details: { resource: 'payout' } });
});
