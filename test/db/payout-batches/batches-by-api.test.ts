/** Batches of payouts over HTTP: what is refused, and what a dry run says. */
import { isSound } from '../../support/servers/gateway';
import {
  buildBatch,
  buildPayout,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);
let accountId: string;
let client: MerchantClient;

beforeAll(async () => {
  const merchant = await openMerchant(gateway, {
    mode: 'test',
    funds: { USDT: '100000', ETH: '20' },
  });
  ({ accountId, client } = merchant);
});

const create = (body: unknown, key = randomKey()) => client.create('/payout_batches', body, key);

test('a repeated request gets the stored response, and a reference is used once [endpoint GET /payout_batches]', async () => {
  const body = buildBatch(2);
  const key = randomKey();
  const first = await create(body, key);
  const second = await create(body, key);
  expect(second.text).toBe(first.text);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  const list = await client.get('/payout_batches?limit=1');
  expect(list.json.data).toMatchObject([{ id: first.json.data.id }]);
  const third = await create({ ...buildBatch(1), reference: body.reference });
  expect([third.status, third.json.error.details]).toEqual([
    409,
    { existing_id: first.json.data.id, existing_object: 'payout_batch' },
  ]);
});

test('a dry run names every faulty row, and stores nothing', async () => {
  const known = buildPayout();
  await client.createPayout(known);
  const twice = buildPayout();
  const payouts = [
    buildPayout(),
    buildPayout({ amount: '0' }),
    buildPayout({ network: 'nowhere' }),
    buildPayout({ destination: { type: 'crypto_address', value: 'TNotAnAddress' } }),
    { ...buildPayout(), reference: known['reference'] },
    twice,
    { ...buildPayout(), reference: twice['reference'] },
    'not a row',
  ];
  const before = await client.get('/balance');
  const { status, json } = await create(buildBatch(0, { payouts, dry_run: true }));
  expect([status, json.data.valid]).toEqual([200, false]);
  const faults = json.data.refused_rows as { row: number; code: string }[];
  const refused = faults.map(({ row, code }) => [row, code]);
  expect(refused).toEqual([
    [2, 'validation_failed'],
    [3, 'validation_failed'],
    [4, 'validation_failed'],
    [5, 'duplicate_reference'],
    [7, 'validation_failed'],
    [8, 'validation_failed'],
  ]);
  expect(json.data.totals).toMatchObject([{ currency: 'USDT', rows: 2 }]);
  expect((await client.get('/balance')).json).toEqual(before.json);
  const stored = await gateway.db.query(
    'SELECT id FROM payout_batches WHERE account_id = ? AND row_count = 8',
    [accountId],
  );
  expect(stored).toEqual([]);

  const real = await create(buildBatch(0, { payouts }));
  expect([real.status, real.json.error.code, real.json.error.details.refused]).toEqual([
    422,
    'rows_refused',
    6,
  ]);
});

test('a balance that does not cover all rows refuses all of them', async () => {
  const payouts = [
    buildPayout({ amount: '12', currency: 'ETH', network: 'ethereum', destination: ETHEREUM }),
    buildPayout({ amount: '12', currency: 'ETH', network: 'ethereum', destination: ETHEREUM }),
    buildPayout(),
  ];
  const { status, json } = await create(buildBatch(0, { payouts }));
  expect([status, json.error.code]).toEqual([422, 'insufficient_balance']);
  expect(json.error.details).toMatchObject({ currency: 'ETH', available: '20.00000000' });
});

const ETHEREUM = { type: 'crypto_address', value: '0x52908400098527886E0F7030069857D2E4169EE7' };

async function underReview(count: number): Promise<{ id: string; manifest: string }> {
  const rehearse = 'UPDATE accounts SET rehearse_review = ? WHERE id = ?';
  await gateway.db.query(rehearse, [true, accountId]);
  const { json } = await create(buildBatch(count));
  await gateway.db.query(rehearse, [false, accountId]);
  expect(json.data.status).toBe('under_review');
  return { id: json.data.id, manifest: json.data.manifest_sha256 };
}

const leaveOut = (id: string, ...numbers: unknown[]) =>
  client.post(`/payout_batches/${id}/leave_out`, { rows: numbers });

test('rows that a batch does not have, and all of its rows, cannot be left out', async () => {
  const { id } = await underReview(2);
  for (const numbers of [[3], [1, 2], [], [0], ['1'], [1.5]]) {
    const { status, json } = await leaveOut(id, ...numbers);
    expect([numbers, status, json.error.code]).toEqual([numbers, 422, 'validation_failed']);
  }
  expect((await client.get(`/payout_batches/${id}`)).json.data.rows.left_out).toBe(0);
  await client.post(`/payout_batches/${id}/stop`);
  expect((await leaveOut(id, 1)).status).toBe(409);
});
