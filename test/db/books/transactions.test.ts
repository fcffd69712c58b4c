/** GET /transactions (the specification, "Transaction object"; decisions/money#ledger and decisions/api#lists). */
import { fund } from '../../support/merchant/ledger';
import { createKey } from '../../support/merchant/merchant';
import { MerchantClient } from '../../support/merchant/merchant-client';
import {
  acceptedPayout,
  type FundedMerchant,
  magic,
  openMerchant,
} from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';
import { walkList } from '../../support/merchant/listed-rows';

const gateway = started(startDirectGateway);

const list = async (client: MerchantClient, query = '') =>
  (await client.get(`/transactions${query}`)).json.data;

const idsOf = (data: { id: string }[]): string[] => data.map(({ id }) => id);

/** `available out 102.00000000 → 898.00000000` */
function lines({ entries }: { entries: Record<string, string>[] }): string[] {
  return entries.map(
    ({ balance, direction, amount, balance_after }) =>
      `${balance} ${direction} ${amount} → ${balance_after}`,
  );
}

test('an adjustment shows what an operator put in or took out, and why [endpoint GET /transactions]', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: {} });
  const key = { accountId, mode: 'live', currency: 'BTC' } as const;
  await fund(gateway.db, key, '1.5');
  await fund(gateway.db, key, '0.00000001', 'out');
  expect(await list(client)).toEqual(
    [
      { direction: 'out', amount: '0.00000001', balance_after: '1.49999999' },
      { direction: 'in', amount: '1.50000000', balance_after: '1.50000000' },
    ].map((entry) => ({
      id: expect.stringMatching(/^txn_[0-9A-Z]{26}$/),
      object: 'transaction',
      mode: 'live',
      type: 'adjustment',
      currency: 'BTC',
      description: 'A test needs it',
      source: { object: 'adjustment', id: expect.stringMatching(/^adj_[0-9A-Z]{26}$/) },
      entries: [{ balance: 'available', ...entry }],
      posted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })),
  );
});

test('a transaction is retrieved as the list shows it [endpoint GET /transactions/{id}]', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: {} });
  await fund(gateway.db, { accountId, mode: 'live', currency: 'BTC' }, '1.5');
  const [listed] = await list(client);
  expect((await client.get(`/transactions/${listed.id}`)).json).toEqual({ data: listed });
});

const RESERVED = [
  'available out 102.00000000 → 898.00000000',
  'reserved in 102.00000000 → 102.00000000',
];
const RELEASED = [
  'reserved out 102.00000000 → 0.00000000',
  'available in 102.00000000 → 1000.00000000',
];
const SETTLED = [
  'reserved out 100.00000000 → 2.00000000',
  'reserved out 1.00000000 → 1.00000000',
  'reserved out 1.00000000 → 0.00000000',
];
const EXCHANGE_ACCOUNT = {
  destination: { type: 'exchange_id', value: '123456789' },
  network: undefined,
};

test.each([
  {
    way: 'is completed',
    finish: (id: string) => gateway.drive(id),
    end: { type: 'payout_settlement', says: 'sent', lines: SETTLED },
  },
  {
    way: 'costs no network fee',
    body: EXCHANGE_ACCOUNT,
    finish: (id: string) => gateway.drive(id),
    reserved: [
      'available out 101.00000000 → 899.00000000',
      'reserved in 101.00000000 → 101.00000000',
    ],
    end: {
      type: 'payout_settlement',
      says: 'sent',
      lines: ['reserved out 100.00000000 → 1.00000000', 'reserved out 1.00000000 → 0.00000000'],
    },
  },
  {
    way: 'is rejected by the operator',
    finish: (id: string) => gateway.reject(id, 'no'),
    end: { type: 'payout_release', says: 'funds returned', lines: RELEASED },
  },
  {
    way: 'is refused by the provider',
    body: { destination: magic('refuses') },
    finish: (id: string) => gateway.drive(id),
    end: { type: 'payout_release', says: 'funds returned', lines: RELEASED },
  },
  {
    way: 'fails at the provider',
    body: { destination: magic('fails_later') },
    finish: (id: string) => gateway.drive(id),
    end: { type: 'payout_release', says: 'funds returned', lines: RELEASED },
  },
  {
    way: 'is cancelled',
    finish: (id: string, client: MerchantClient) => client.post(`/payouts/${id}/cancel`),
    end: { type: 'payout_release', says: 'funds returned', lines: RELEASED },
  },
])('a payout that $way has two transactions', async ({ body, finish, reserved, end }) => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '1000' } });
  const id = await acceptedPayout(client, { amount: '100', reference: 'order-1', ...body });
  await finish(id, client);
  const own = (await list(client, `?source_id=${id}`)) as Parameters<typeof lines>[0][];
  const source = { object: 'payout', id };
  expect(own).toMatchObject([
    { type: end.type, currency: 'USDT', description: `Payout order-1: ${end.says}`, source },
    { type: 'payout_reserve', description: 'Payout order-1: funds reserved', source },
  ]);
  expect(own.map(lines)).toEqual([end.lines, reserved ?? RESERVED]);
});

describe('filters', () => {
  let merchant: FundedMerchant;
  let all: { id: string; type: string; currency: string; posted_at: string }[];
  let payoutId: string;

  beforeAll(async () => {
    merchant = await openMerchant(gateway, { funds: { USDT: '100', USDC: '100', BTC: '1' } });
    payoutId = await acceptedPayout(merchant.client);
    await acceptedPayout(merchant.client, { currency: 'USDC' });
    await merchant.client.post(`/payouts/${payoutId}/cancel`);
    all = await list(merchant.client);
  });

  const today = () => all[0]!.posted_at.slice(0, 10);
  const day = (days: number) =>
    new Date(Date.parse(all[0]!.posted_at) + days * 86_400_000).toISOString().slice(0, 10);

  it.each<[string, () => string, (one: (typeof all)[0]) => boolean]>([
    ['nothing', () => '', () => true],
    ['currency', () => 'currency=USDC', ({ currency }) => currency === 'USDC'],
    ['a currency without money', () => 'currency=XRP', () => false],
    ['type', () => 'type=payout_reserve', ({ type }) => type === 'payout_reserve'],
    ['a type that has none', () => 'type=payin_refund', () => false],
    [
      'both',
      () => 'type=adjustment&currency=BTC',
      ({ type, currency }) => type === 'adjustment' && currency === 'BTC',
    ],
    [
      'source_id',
      () => `source_id=${payoutId}`,
      ({ type, currency }) => type !== 'adjustment' && currency === 'USDT',
    ],
    ['an unknown source_id', () => `source_id=${payoutId.slice(0, -4)}0000`, () => false],
    ['today', () => `created_from=${today()}`, ({ posted_at }) => posted_at >= today()],
    ['until the day before', () => `created_to=${day(-1)}`, ({ posted_at }) => posted_at < today()],
    ['from the next day', () => `created_from=${day(1)}`, () => false],
    [
      'from the moment of one, as it is shown',
      () => `created_from=${all[2]!.posted_at}`,
      ({ posted_at }) => posted_at >= all[2]!.posted_at,
    ],
    [
      'until the moment of one, as it is shown',
      () => `created_to=${all[2]!.posted_at}`,
      ({ posted_at }) => posted_at <= all[2]!.posted_at,
    ],
  ])('by %s keep what they name, on one page and over many', async (_, query, keeps) => {
    const expected = idsOf(all.filter(keeps));
    const get = (path: string) => merchant.client.get(path);
    expect(idsOf(await list(merchant.client, `?${query()}`))).toEqual(expected);
    expect(idsOf(await walkList(get, `/transactions?limit=1&${query()}`))).toEqual(expected);
  });

  it.each([
    ['kind', 'kind=adjustment'],
    ['currency', 'currency=usdt'],
    ['currency', 'currency=USDT&currency=USDC'],
    ['type', 'type=payout'],
    ['type', 'type=payout_reserve,adjustment'],
    ['source_id', 'source_id=1'],
    ['source_id', 'source_id=acc_01M7YESA634WQFACSBWYSTKM76'],
    ['created_from', 'created_from=today'],
    ['created_from', 'created_from=2026-13-01'],
    ['created_to', 'created_to=2026-02-30'],
    ['created_to', 'created_to=2026-03-01T12:00:00'],
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['cursor', 'cursor=abc'],
  ])('of a bad %s are refused: %s', async (field, query) => {
    const { status, json } = await merchant.client.get(`/transactions?${query}`);
    expect({ status, code: json.error.code, field: json.error.details.fields[0].field }).toEqual({
      status: 422,
      code: 'validation_failed',
      field,
    });
  });

  it('name everything that is wrong at once', async () => {
    const { json } = await merchant.client.get(
      '/transactions?currency=x&type=y&source_id=z&limit=0',
    );
    const fields = json.error.details.fields as { field: string }[];
    expect(fields.map(({ field }) => field).sort()).toEqual([
      'currency',
      'limit',
      'source_id',
      'type',
    ]);
  });
});

test('pages have 25 transactions unless 1 to 100 are asked for [limit page size]', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: {} });
  const key = { accountId, mode: 'live', currency: 'USDT' } as const;
  for (let index = 0; index < 101; index++) await fund(gateway.db, key, '1');
  const sizes: Record<string, number> = { '': 25, '?limit=1': 1, '?limit=100': 100 };
  for (const [query, size] of Object.entries(sizes)) {
    const { json } = await client.get(`/transactions${query}`);
    const { next_cursor } = json.meta;
    expect(json.data).toHaveLength(size);
    const path = json.meta.path;
    expect(json.meta).toEqual({ path, per_page: size, next_cursor, prev_cursor: null });
    expect(path).toMatch(/^http.*\/api\/v1\/transactions$/);
    expect(json.links).toEqual({
      first: null,
      last: null,
      prev: null,
      next: `${path}?limit=${size}&cursor=${next_cursor}`,
    });
  }
  for (const path of ['/transactions', '/payouts']) {
    for (const limit of ['0', '101', '-1', '1.5', '', 'x']) {
      expect((await client.get(`${path}?limit=${limit}`)).status).toBe(422);
    }
  }
  const all = await walkList((path) => client.get(path), '/transactions?limit=100');
  expect(all.map((one) => one.entries[0].balance_after)).toEqual(
    Array.from({ length: 101 }, (_, index) => `${101 - index}.00000000`),
  );
});

test('a cursor serves only the list it was made for', async () => {
  const { client, otherMode } = await openMerchant(gateway, { funds: { USDT: '9', USDC: '9' } });
  const stranger = await openMerchant(gateway);
  const { json } = await client.get('/transactions?limit=1');
  const cursor = `cursor=${String(json.meta.next_cursor)}`;
  const attempts: [MerchantClient, string][] = [
    [client, `/payouts?${cursor}`],
    [client, `/transactions?currency=USDT&${cursor}`],
    [client, `/transactions?${cursor.slice(0, -2)}`],
    [stranger.client, `/transactions?${cursor}`],
    [otherMode, `/transactions?${cursor}`],
  ];
  for (const [who, path] of attempts) {
    const { status } = await who.get(path);
    expect({ path, status }).toEqual({ path, status: 422 });
  }
  expect((await client.get(`/transactions?limit=2&${cursor}`)).json.data).toHaveLength(1);
});

test('the key needs payments:read and nothing else [scope payments:read]', async () => {
  const { accountId } = await openMerchant(gateway);
  const clientWith = async (scopes: Parameters<typeof createKey>[2]['scopes']) =>
    new MerchantClient(
      gateway.baseUrl,
      await createKey(gateway.db, gateway.pepper, { accountId, mode: 'live', scopes: scopes! }),
    );
  const reader = await clientWith(['payments:read']);
  expect(await list(reader)).toHaveLength(1);
  const others = await clientWith([
    'payments:write',
    'payouts:read',
    'payouts:write',
    'balance:read',
  ]);
  expect(await others.get('/transactions')).toMatchObject({
    status: 403,
    json: {
      error: { code: 'insufficient_scope', details: { required_scope: 'payments:read' } },
    },
  });
});
