/** Batches of payouts, from the request to the proof. */
import { createHash } from 'node:crypto';
import { rows } from '../../src/db/transaction';
import { verifyLedger } from '../../src/db/ledger-verify';
import { type TestGateway, useSharedGateway } from '../support/servers/gateway';
import { createMerchant, fund, type Merchant } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { waitFor } from '../support/wait-for';

let gateway: TestGateway;
let merchant: Merchant;
let client: MerchantClient;

beforeAll(async () => {
  gateway = await useSharedGateway();
  merchant = await createMerchant(gateway.db, gateway.pepper);
  client = new MerchantClient(gateway.baseUrl, merchant.testKey);
  await fund(gateway.db, merchant.accountId, 'test', 'USDT', '100000');
  await fund(gateway.db, merchant.accountId, 'test', 'ETH', '20');
});

afterAll(() => gateway.stop());

function buildBatch(count: number, overrides: Record<string, unknown> = {}) {
  return {
    reference: `batch-${randomKey()}`,
    payouts: Array.from({ length: count }, () => buildPayout()),
    ...overrides,
  };
}

const create = (body: unknown, key = randomKey()) =>
  client.post('/payout_batches', body, { 'idempotency-key': key });

const closed = (id: string) =>
  waitFor(`${id} to be closed`, async () => {
    const { json } = await client.get(`/payout_batches/${id}`);
    return json.data.closed_at === null ? undefined : json.data;
  });

async function expectSoundLedger(): Promise<void> {
  const broken = (await verifyLedger(gateway.db)).filter((one) => one.broken > 0);
  expect(broken).toEqual([]);
}

test('every row is reserved at once, sent, and accounted for [endpoint POST /payout_batches] [endpoint GET /payout_batches/{id}] [endpoint GET /payout_batches/{id}/proof]', async () => {
  const body = buildBatch(40);
  const { status, json } = await create(body);
  expect([status, json.data.status, json.data.rows.total]).toEqual([201, 'requested', 40]);
  expect(json.data.totals).toMatchObject([{ currency: 'USDT', rows: 40, amount: '400.00000000' }]);

  const batch = await closed(json.data.id);
  expect(batch).toMatchObject({
    status: 'completed',
    rows: { total: 40, waiting: 0, processing: 0, sent: 40, failed: 0, returned: 0 },
  });
  const { json: proof } = await client.get(`/payout_batches/${json.data.id}/proof`);
  expect(proof.data.balanced).toBe(true);
  const proven = proof.data.rows as { manifest: string; reference: string }[];
  const lines = proven.map(({ manifest }) => `${manifest}\n`).join('');
  expect(createHash('sha256').update(lines).digest('hex')).toBe(batch.manifest_sha256);
  expect(proven.map(({ reference }) => reference)).toEqual(
    body.payouts.map(({ reference }) => reference),
  );
  const page = await client.get(`/payouts?batch=${json.data.id}&limit=100`);
  expect(page.json.data).toHaveLength(40);
  await expectSoundLedger();
});

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
  expect((await client.get('/balance')).json.data).toEqual(before.json.data);
  const stored = await rows(
    gateway.db,
    'SELECT id FROM payout_batches WHERE account_id = ? AND row_count = 8',
    [merchant.accountId],
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

test('a stopped batch returns what was not released [endpoint POST /payout_batches/{id}/stop]', async () => {
  const { json } = await create(buildBatch(200));
  const { id } = json.data;
  await waitFor('rows to be released', async () => {
    const { json: now } = await client.get(`/payout_batches/${id}`);
    return now.data.rows.waiting < 200 ? true : undefined;
  });
  const stopped = await client.post(`/payout_batches/${id}/stop`);
  expect(stopped.status).toBe(200);
  expect(stopped.json.data.stop_requested_at).not.toBeNull();
  const batch = await closed(id);
  expect(batch.status).toBe('stopped');
  const { sent, returned } = batch.rows as { sent: number; returned: number };
  expect(sent + returned).toBe(200);
  expect(returned).toBeGreaterThan(0);
  const { json: proof } = await client.get(`/payout_batches/${id}/proof`);
  expect(proof.data.balanced).toBe(true);
  expect((await client.post(`/payout_batches/${id}/stop`)).status).toBe(409);
  await expectSoundLedger();
});

async function underReview(count: number): Promise<{ id: string; manifest: string }> {
  const rehearse = 'UPDATE accounts SET rehearse_review = ? WHERE id = ?';
  await rows(gateway.db, rehearse, [true, merchant.accountId]);
  const { json } = await create(buildBatch(count));
  await rows(gateway.db, rehearse, [false, merchant.accountId]);
  expect(json.data.status).toBe('under_review');
  return { id: json.data.id, manifest: json.data.manifest_sha256 };
}

const signal = (id: string, name: string, input: object) =>
  gateway.temporal.workflow.getHandle(id).signal(name, input);

test('a row that waits for its batch is changed by nothing else', async () => {
  const { id, manifest } = await underReview(2);
  const { json } = await client.get(`/payouts?batch=${id}`);
  const [first] = json.data;
  expect(first.status).toBe('under_review');
  const cancelled = await client.post(`/payouts/${first.id}/cancel`);
  expect([cancelled.status, cancelled.json.error.code]).toEqual([409, 'invalid_state']);
  await signal(id, 'approve', { by: 'olivia', manifest });
  expect(await closed(id)).toMatchObject({ status: 'completed', rows: { sent: 2 } });
});

test('an approval is about the manifest that it names', async () => {
  const { id, manifest } = await underReview(2);
  await signal(id, 'approve', { by: 'olivia' });
  await signal(id, 'approve', { by: 'olivia', manifest: '0'.repeat(64) });
  const description = await gateway.temporal.workflow
    .getHandle(id)
    .query('__temporal_workflow_metadata');
  expect(JSON.stringify(description)).toContain('the batch has another manifest');
  expect((await client.get(`/payout_batches/${id}`)).json.data.status).toBe('under_review');
  await signal(id, 'approve', { by: 'olivia', manifest });
  expect(await closed(id)).toMatchObject({ status: 'completed' });
});

test('a rejected batch returns every row', async () => {
  const { id } = await underReview(3);
  await signal(id, 'reject', { by: 'olivia', reason: 'not expected' });
  expect(await closed(id)).toMatchObject({
    status: 'rejected',
    rejection_reason: 'not expected',
    rows: { returned: 3 },
  });
  const { json } = await client.get(`/payouts?batch=${id}`);
  expect(json.data).toMatchObject([1, 2, 3].map(() => ({ status: 'rejected' })));
});

test('a row that was changed in the database is not sent', async () => {
  const { id, manifest } = await underReview(3);
  await rows(
    gateway.db,
    `UPDATE payouts SET destination_value = 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7'
      WHERE batch_id = ? AND batch_row = 2`,
    [id],
  );
  await signal(id, 'approve', { by: 'olivia', manifest });
  const batch = await closed(id);
  expect(batch).toMatchObject({ status: 'stopped', rows: { sent: 0, returned: 3 } });
  const cases = await rows(gateway.db, 'SELECT kind FROM cases WHERE object_id = ?', [id]);
  expect(cases).toEqual([{ kind: 'batch_changed' }]);
});
