/** Batches of payouts, from the request to the proof. */
import { createHash } from 'node:crypto';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { buildBatch, type MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import { runAdmin } from '../../support/servers/gateway-admin';
import { openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { readPage } from '../../support/workflow-page';

const gateway = started(useSharedGateway, isSound);
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

const closed = (id: string) =>
  waitFor(`${id} to be closed`, async () => {
    const { json } = await client.get(`/payout_batches/${id}`);
    return json.data.closed_at === null ? undefined : json.data;
  });

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
  await isSound(gateway);
});

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
  await isSound(gateway);
});

async function underReview(count: number): Promise<{ id: string; manifest: string }> {
  const rehearse = 'UPDATE accounts SET rehearse_review = ? WHERE id = ?';
  await gateway.db.query(rehearse, [true, accountId]);
  const { json } = await create(buildBatch(count));
  await gateway.db.query(rehearse, [false, accountId]);
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
  const page = await readPage(gateway.temporal.workflow.getHandle(id));
  expect(page).toContain('the batch has another manifest');
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

const leaveOut = (id: string, ...numbers: unknown[]) =>
  client.post(`/payout_batches/${id}/leave_out`, { rows: numbers });

test('rows are left out before the approval, which names what remains [endpoint POST /payout_batches/{id}/leave_out]', async () => {
  const { id, manifest } = await underReview(4);
  const before = await client.get('/balance');
  const left = await leaveOut(id, 2, 4);
  expect(left.status).toBe(200);
  expect(left.json.data).toMatchObject({
    status: 'under_review',
    rows: { total: 4, waiting: 2, returned: 0, left_out: 2 },
    totals: [{ currency: 'USDT', rows: 2, amount: '20.00000000' }],
  });
  expect(left.json.data.manifest_sha256).not.toBe(manifest);
  expect((await client.get('/balance')).json).not.toEqual(before.json);
  // Rows that were left out before stay so.
  expect((await leaveOut(id, 2)).json.data).toEqual(left.json.data);

  await signal(id, 'approve', { by: 'olivia', manifest });
  expect((await client.get(`/payout_batches/${id}`)).json.data.status).toBe('under_review');
  await signal(id, 'approve', { by: 'olivia', manifest: left.json.data.manifest_sha256 });
  expect(await closed(id)).toMatchObject({ status: 'completed', rows: { sent: 2, left_out: 2 } });
  const progress = await gateway.temporal.workflow.getHandle(id).query('progress');
  expect(progress).toMatchObject({ sent: 2, waiting: 0, leftOut: 2 });
  expect((await leaveOut(id, 1)).json.error.code).toBe('invalid_state');

  const { json } = await client.get(`/payout_batches/${id}/proof`);
  const { totals, balanced } = json.data;
  const proven = json.data.rows as { left_out: boolean; manifest: string; status: string }[];
  expect(balanced).toBe(true);
  expect(totals).toMatchObject([{ left_out: totals[0].manifest, sent: totals[0].manifest }]);
  const lines = proven.filter((row) => !row.left_out);
  const text = lines.map((row) => `${row.manifest}\n`).join('');
  expect(createHash('sha256').update(text).digest('hex')).toBe(left.json.data.manifest_sha256);
  expect(proven.map(({ status }) => status)).toEqual([
    'completed',
    'cancelled',
    'completed',
    'cancelled',
  ]);
  await isSound(gateway);
});

test('the admin command leaves rows out, approves the manifest that it names, and proves it', async () => {
  const { id, manifest } = await underReview(3);
  const listed = await runAdmin(gateway, 'batches', 'list', '--all');
  expect(JSON.stringify(listed.data)).toContain(id);
  await expect(
    runAdmin(gateway, 'batches', 'leave-out', id, '--rows', '1,2,3', '--reason', 'x'),
  ).rejects.toThrow('must remain');
  const left = await runAdmin(gateway, 'batches', 'leave-out', id, '--rows', '2', '--reason', 'x');
  expect(left).toMatchObject({ rows: { left_out: 1 } });
  await expect(runAdmin(gateway, 'batches', 'approve', id, '--manifest', manifest)).rejects.toThrow(
    'another manifest',
  );
  const named = left['manifest_sha256'] as string;
  const approved = await runAdmin(
    gateway,
    'batches',
    'approve',
    id,
    '--manifest',
    named,
    '--by',
    'olivia',
  );
  expect(approved).toMatchObject({ approved_by: 'olivia' });
  await closed(id);
  expect(await runAdmin(gateway, 'batches', 'show', id)).toMatchObject({ status: 'completed' });
  expect(await runAdmin(gateway, 'batches', 'proof', id)).toMatchObject({ balanced: true });
  const again = runAdmin(gateway, 'batches', 'stop', id, '--reason', 'x');
  await expect(again).rejects.toThrow('ended already');
  const other = await underReview(1);
  expect(
    await runAdmin(gateway, 'batches', 'reject', other.id, '--reason', 'wrong list'),
  ).toMatchObject({ rejection_reason: 'wrong list' });
});

test('of an approval and a row left out at the same moment, one wins', async () => {
  for (let n = 0; n < 5; n += 1) {
    const { id, manifest } = await underReview(3);
    const [left] = await Promise.all([
      leaveOut(id, 1),
      signal(id, 'approve', { by: 'olivia', manifest }),
    ]);
    const batch = (await client.get(`/payout_batches/${id}`)).json.data;
    if (left.status === 200) {
      expect([batch.status, batch.rows.left_out]).toEqual(['under_review', 1]);
      await client.post(`/payout_batches/${id}/stop`);
    } else expect(batch.status).not.toBe('under_review');
    const { rows: counts } = await closed(id);
    expect(counts.sent).toBe(left.status === 200 ? 0 : 3);
  }
  await isSound(gateway);
});

test('rows that were changed in the database are not left out under a new hash', async () => {
  const { id } = await underReview(3);
  await changeRow(id, 2);
  expect((await leaveOut(id, 1)).status).toBe(409);
  expect(await closed(id)).toMatchObject({ status: 'stopped', rows: { returned: 3, left_out: 0 } });
});

const OTHER_ADDRESS = 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7';

const changeRow = (id: string, row: number) =>
  gateway.db.query(
    'UPDATE payouts SET destination_value = ? WHERE batch_id = ? AND batch_row = ?',
    [OTHER_ADDRESS, id, row],
  );

test('a row that is changed while others are sent is not sent', async () => {
  const { json } = await create(buildBatch(120));
  const { id } = json.data;
  await waitFor('rows to be released', async () => {
    const { json: now } = await client.get(`/payout_batches/${id}`);
    return now.data.rows.processing > 0 ? true : undefined;
  });
  await changeRow(id, 120);
  const batch = await closed(id);
  expect(batch.status).toBe('stopped');
  expect(batch.rows.sent).toBeGreaterThan(0);
  const { json: page } = await client.get(`/payouts?batch=${id}&limit=100`);
  const payouts = page.data as { destination: { value: string } }[];
  const changed = payouts.filter(({ destination }) => destination.value === OTHER_ADDRESS);
  expect(changed).toMatchObject([{ status: 'cancelled' }]);
});

test('a row that was changed in the database is not sent', async () => {
  const { id, manifest } = await underReview(3);
  await changeRow(id, 2);
  await signal(id, 'approve', { by: 'olivia', manifest });
  const batch = await closed(id);
  expect(batch).toMatchObject({ status: 'stopped', rows: { sent: 0, returned: 3 } });
  const cases = await gateway.db.query('SELECT kind FROM cases WHERE object_id = ?', [id]);
  expect(cases).toEqual([{ kind: 'batch_changed' }]);
});
