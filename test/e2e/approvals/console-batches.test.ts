/** Operators decide about batches on the pages of the console, as a browser without JavaScript. */
import { newDecisionId } from '../../../src/features/payouts/payout-reviews';
import { buildPayout, randomKey } from '../../support/merchant/merchant-client';
import {
  ageSignIn,
  hiddenIn,
  makeUser,
  openForm,
  type PageClient,
  signedIn,
} from '../../support/merchant/page-client';
import { startConsoleGateway } from '../../support/servers/console-gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(() => startConsoleGateway('BTC', 0.9));

async function createBatch(count: number, row: Record<string, unknown> = {}): Promise<string> {
  const payouts = Array.from({ length: count }, () => buildPayout(row));
  const body = { reference: `batch-${randomKey()}`, payouts };
  const { status, json } = await gateway.client.post('/payout_batches', body, {
    'idempotency-key': randomKey(),
  });
  expect([status, json.data?.status]).toEqual([201, 'under_review']);
  return json.data.id as string;
}

const decide = (page: PageClient, id: string, kind: 'approve' | 'reject' | 'leave_out') =>
  openForm(page, `/console/batches/${id}`, kind);

const batchOf = async (id: string) => (await gateway.client.get(`/payout_batches/${id}`)).json.data;
const closed = (id: string) =>
  waitFor(`${id} to be closed`, async () => {
    const batch = await batchOf(id);
    return batch.closed_at === null ? undefined : batch;
  });

test('an operator approves the manifest of the page, and its rows are not in the queue', async () => {
  const id = await createBatch(3);
  expect(await gateway.alice.read('/console/batches')).toContain(id);
  const { json } = await gateway.client.get(`/payouts?batch=${id}`);
  const row = json.data[0].id as string;
  expect(await gateway.alice.read('/console/queue')).not.toContain(row);
  expect(await gateway.alice.read(`/console/payouts/${row}`)).toContain('has not released it');
  const send = await decide(gateway.alice, id, 'approve');
  const other = await send({ manifest: '0'.repeat(64) });
  expect(other).toContain('other rows than those on the page');
  const again = await decide(gateway.alice, id, 'approve');
  expect(await again()).toContain('Approved. ');
  expect(await closed(id)).toMatchObject({ status: 'completed', rows: { sent: 3 } });
});

test('a sum above the threshold needs two operators, though each row is below it', async () => {
  const id = await createBatch(3, {
    amount: '0.4',
    currency: 'BTC',
    network: 'bitcoin',
    destination: { type: 'crypto_address', value: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
  });
  await gateway.temporal.workflow
    .getHandle(id)
    .signal('approve', { by: 'mallory', manifest: (await batchOf(id)).manifest_sha256 });
  const first = await decide(gateway.alice, id, 'approve');
  expect(await first()).toContain('1 of 2');
  expect((await batchOf(id)).status).toBe('under_review');
  const page = await gateway.alice.read(`/console/batches/${id}`);
  expect(page).toContain('You have approved it.');
  const second = await decide(gateway.bob, id, 'approve');
  expect(await second()).toContain('Approved. ');
  expect(await closed(id)).toMatchObject({ status: 'completed' });
});

test('a rejection needs a reason, which the merchant reads', async () => {
  const id = await createBatch(2);
  const send = await decide(gateway.bob, id, 'reject');
  expect(await send({ reject_reason: 'The list is last month’s.' })).toContain('Rejected.');
  expect(await closed(id)).toMatchObject({
    status: 'rejected',
    rejection_reason: 'The list is last month’s.',
    rows: { returned: 2 },
  });
});

test('a batch that a new user made on the dashboard is not said to have a new API key', async () => {
  const user = await makeUser(gateway.db, 'merchant', 'finance', gateway.accountId);
  const merchant = await signedIn(gateway.baseUrl, user);
  const { destination } = buildPayout() as { destination: { value: string } };
  const table = `reference,amount,currency,destination,network\n${randomKey()},5,USDT,${destination.value},tron`;
  const form = { reference: randomKey(), description: '', table };
  const preview = await merchant.post('/dashboard/live/batches/new', form);
  const created = await merchant.post('/dashboard/live/batches/create', form);
  const [id = ''] = /pb_\w+/.exec(created.headers.get('location') ?? '') ?? [];
  const pages = [await preview.text(), await gateway.alice.read(`/console/batches/${id}`)];
  for (const page of pages) {
    expect(page).toContain('The user who requested it was created less than 24 hours ago.');
    expect(page).not.toContain('API key is less than');
  }
});

test('rows are left out, the merchant reads why, and an earlier approval does not count', async () => {
  const id = await createBatch(4, {
    amount: '0.4',
    currency: 'BTC',
    network: 'bitcoin',
    destination: { type: 'crypto_address', value: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
  });
  const first = await decide(gateway.alice, id, 'approve');
  expect(await first()).toContain('1 of 2');
  const leave = await decide(gateway.bob, id, 'leave_out');
  expect(await leave({ row: '2', leave_out_reason: 'Unknown recipient' })).toContain('Left out.');
  const { json } = await gateway.client.get(`/payout_batches/${id}/proof`);
  expect(json.data.rows[1]).toMatchObject({ status: 'rejected', left_out: true });
  const payout = await gateway.client.get(`/payouts/${json.data.rows[1].id}`);
  expect(payout.json.data.rejection_reason).toBe('Unknown recipient');
  // The first approval named other rows: two are needed again, and the first operator may be one.
  const second = await decide(gateway.bob, id, 'approve');
  expect(await second()).toContain('1 of 2');
  expect((await batchOf(id)).status).toBe('under_review');
  const third = await decide(gateway.alice, id, 'approve');
  expect(await third()).toContain('Approved. ');
  expect(await closed(id)).toMatchObject({ status: 'completed', rows: { sent: 3, left_out: 1 } });
});

test('no row, and all rows, cannot be left out', async () => {
  const id = await createBatch(2);
  const none = await gateway.bob.post(`/console/batches/${id}/leave_out`, {
    decision: newDecisionId(),
    manifest: '',
    leave_out_reason: 'x',
  });
  expect([none.status, await none.text()]).toEqual([
    422,
    expect.stringContaining('Choose at least one'),
  ]);
  const all = await decide(gateway.bob, id, 'leave_out');
  expect(await all({ rows: '1, 2', leave_out_reason: 'x' })).toContain(
    'at least one row must remain',
  );
});

test('a live batch is approved after a recent sign-in only', async () => {
  const id = await createBatch(1);
  const send = await decide(gateway.alice, id, 'approve');
  await ageSignIn(gateway.db, gateway.users.alice);
  const html = await send().catch(() => '');
  expect(html).not.toContain('Approved.');
  expect((await batchOf(id)).status).toBe('under_review');
});

test('an approval that reaches the batch late has no effect', async () => {
  const id = await createBatch(1);
  const path = `/console/batches/${id}`;
  const form = hiddenIn(await gateway.alice.read(path), 'approve');
  const { id: userId, email } = gateway.users.alice;
  await gateway.db.query(
    `INSERT INTO payout_batch_decisions (id, batch_id, kind, manifest_sha256, user_id, email, created_at)
     VALUES (?, ?, 'approve', ?, ?, ?, now() - interval '6 minutes')`,
    [form['decision']!, id, form['manifest']!, userId, email],
  );
  expect((await gateway.alice.post(`${path}/approve`, form)).status).toBe(303);
  const [decision] = await gateway.db.query(
    'SELECT outcome FROM payout_batch_decisions WHERE id = ?',
    [form['decision']!],
  );
  expect(decision).toEqual({ outcome: 'expired' });
  expect((await batchOf(id)).status).toBe('under_review');
});
