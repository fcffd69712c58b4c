/** One search on every page of the console: what it finds, and where it leads. */
import { openCase } from '../../../src/db/cases/cases';
import { type IdKind, ID_PREFIXES } from '../../../src/domain/ids';
import { newId } from '../../../src/platform/lib/new-id';
import { insertPayment } from '../../support/merchant/ledger';
import type { PageClient } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { PROBE, read, startConsoleWorld } from '../console-world';

const world = started(startConsoleWorld);
let viewer: PageClient;
let accountId: string;

beforeAll(async () => {
  viewer = await world.signedIn(world.reviewer);
  accountId = await world.harness.createAccount();
});

async function insert(table: string, row: Record<string, unknown>): Promise<void> {
  const names = Object.keys(row);
  await world.harness.owner.query(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(row) as string[],
  );
}

async function makePayout(fields: Record<string, unknown> = {}): Promise<string> {
  const id = newId('payout');
  await insert('payouts', {
    id,
    account_id: accountId,
    mode: 'live',
    reference: `ref-${id}`,
    status: 'completed',
    provider: 'onchain_provider',
    amount: '12.5',
    currency: 'USDT',
    network: 'ethereum',
    destination_type: 'crypto_address',
    destination_value: `T${id}`,
    service_fee: '0',
    network_fee: '0',
    total_debit: '12.5',
    fee_terms: '{}',
    api_key_id: 'key_none',
    review_reasons: '{}',
    ...fields,
  });
  return id;
}

/** Where a search leads; null: it shows what it found. */
async function leadsTo(text: string): Promise<string | null> {
  const response = await viewer.get(`/console/search?q=${encodeURIComponent(text)}`);
  expect([200, 303]).toContain(response.status);
  return response.headers.get('location');
}

const results = (text: string) => read(viewer, `/search?q=${encodeURIComponent(text)}`);

test('the id of an object of every kind leads to its page, or to the page that shows it', async () => {
  const own = await world.harness.createAccount();
  const place = { accountId: own, mode: 'live', currency: 'USDT' } as const;
  const paymentId = await insertPayment(world.harness.owner, place, 'completed');
  const ids = Object.fromEntries(
    (Object.keys(ID_PREFIXES) as IdKind[]).map((kind) => [kind, newId(kind)]),
  ) as Record<IdKind, string>;
  const owned = { account_id: own, mode: 'live' };
  ids.payment = paymentId;
  ids.payout = await makePayout(owned);
  ids.account = own;
  ids.user = world.reviewer.id;
  ids.apiKey = (await world.harness.createKey({ accountId: own })).id;
  await openCase(world.harness.owner, 'sent_twice', ids.payout, {});
  const [opened] = await world.harness.owner.query<{ id: string }>(
    'SELECT id FROM cases WHERE object_id = ?',
    [ids.payout],
  );
  ids.case = opened!.id;
  const terms = {
    row_count: 1,
    totals: '[]',
    manifest_sha256: '0'.repeat(64),
    review_reasons: '{}',
  };
  const batch = { ...owned, ...terms, reference: 'b', status: 'requested', api_key_id: 'k' };
  await insert('payout_batches', { id: ids.payoutBatch, ...batch });
  await insert('payout_schedules', {
    id: ids.payoutSchedule,
    ...{ ...owned, reference: 's', interval_seconds: 60, start_at: new Date(), payouts: '[]' },
    ...{ totals: '[]', api_key_id: 'k' },
  });
  await insert('payout_schedule_runs', {
    id: ids.payoutScheduleRun,
    ...{ schedule_id: ids.payoutSchedule, scheduled_for: new Date(), batch_id: ids.payoutBatch },
    ...{ status: 'created', ended_at: new Date() },
  });
  await insert('recipients', {
    id: ids.recipient,
    ...{ ...owned, name: 'Ada', currency: 'USDT', destination_type: 'exchange_id' },
    ...{ destination_value: '77', created_by: 'k' },
  });
  await insert('payment_links', {
    id: ids.paymentLink,
    ...{ ...owned, user_id: ids.user, amount: '1', routes: '{USDT tron}', reference: 'link' },
    ...{ request: '{}', expires_at: new Date() },
  });
  await insert('payment_refunds', {
    id: ids.refund,
    ...{ payment_id: paymentId, reference: 'r1', merchant_reference: 'back', amount: '1' },
    ...{ taken: '1', fee: '0', state: 'done' },
  });
  const posted = { ...owned, currency: 'USDT', description: 'x', posted_at: new Date() };
  for (const [id, type, source] of [
    [ids.transaction, 'payout_reserve', ids.payout],
    [newId('transaction'), 'adjustment', ids.adjustment],
  ] as const) {
    await insert('ledger_transactions', {
      ...{ id, operation_key: id, ...posted, type, source_id: source },
      ...{
        source_object: type === 'adjustment' ? type : 'payout',
        balance_version: `${id.length}${type.length}`,
      },
    });
  }
  const event = { id: ids.event, ...owned, type: 'refund.completed', object_id: ids.refund };
  await insert('events', { ...event, sequence: 1 });
  await insert('webhook_endpoints', {
    id: ids.webhookEndpoint,
    ...{
      ...owned,
      url: 'https://shop.example/',
      secret_sealed: Buffer.from('x'),
      secret_key_id: 'k',
    },
  });
  await insert('webhook_deliveries', {
    id: ids.webhookDelivery,
    ...{ event_id: ids.event, endpoint_id: ids.webhookEndpoint },
    ...{ next_attempt_at: new Date(), check_at: new Date() },
  });
  await insert('payout_decisions', {
    id: ids.decision,
    ...{ payout_id: ids.payout, kind: 'reject', user_id: world.reviewer.id, email: 'x' },
  });
  await insert('passkeys', {
    id: ids.passkey,
    ...{ user_id: world.reviewer.id, credential_id: ids.passkey, public_key: Buffer.from('x') },
    ...{ counter: 0, transports: '{}', name: 'Key' },
  });
  await insert('invitations', {
    id: ids.invitation,
    ...{ token_hash: Buffer.from(ids.invitation), kind: 'merchant', account_id: own },
    ...{ email: 'a@example.com', role: 'viewer', invited_by: 'x', expires_at: new Date() },
  });
  await insert('policy_proposals', {
    id: ids.proposal,
    ...{ account_id: own, topic: 'review', wish: '{}', after: '{}', reason: 'x', proposed_by: 'x' },
  });
  const [session] = await world.harness.owner.query<{ id: string }>(
    'SELECT id FROM sessions WHERE user_id = ? LIMIT 1',
    [world.reviewer.id],
  );
  ids.session = session!.id;
  const day = Math.floor(Date.now() / 86_400_000);
  await insert('request_log_days', { ...owned, day, succeeded: 1, failed: 0 });
  await insert('request_log', {
    ...{ id: ids.request, day_slot: day % 9, ...owned, api_key_id: 'k', at: new Date() },
    ...{ method: 'GET', path: '/api/v1/balance', query: '', status: 200, replayed: false },
    ...{ address: '127.0.0.1', user_agent: 'x', duration_ms: 1 },
  });

  const account = `/console/accounts/${own}`;
  const [payout, payment] = [`/console/payouts/${ids.payout}`, `/console/payments/${paymentId}`];
  const expected: Record<IdKind, string | null> = {
    ...{ payment, payout, refund: payment, event: payment, webhookDelivery: payment },
    ...{ transaction: payout, decision: payout, account, adjustment: account, apiKey: account },
    ...{ webhookEndpoint: account, request: account, payoutSchedule: account },
    ...{ invitation: account, proposal: account, case: `/console/cases/${ids.case}` },
    payoutBatch: `/console/batches/${ids.payoutBatch}`,
    payoutScheduleRun: `/console/batches/${ids.payoutBatch}`,
    paymentLink: account,
    recipient: `${account}/recipients?mode=live`,
    ...{ user: '/console/people', session: '/console/people', passkey: '/console/people' },
    // A notification belongs to the worker, and the pages do not read it.
    notification: null,
    linkMail: null,
    chatWebhook: null,
    chatMessage: null,
  };
  const found = await Promise.all(
    Object.entries(ids).map(async ([kind, id]) => [kind, await leadsTo(id)] as const),
  );
  expect(Object.fromEntries(found)).toEqual(expected);
  expect(await leadsTo(newId('payout'))).toBeNull();
});

test('a whole reference, an address in each of its spellings, a hash, an email and a name lead to the one object', async () => {
  const checksummed = '0x52908400098527886E0F7030069857D2E4169EE7';
  const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const hash = `0x${'a1'.repeat(32)}`;
  const first = await makePayout({
    reference: 'Order_77%',
    destination_value: mixed,
    tx_hash: hash,
  });
  const second = await makePayout({
    reference: 'order-78',
    destination_value: checksummed.toLowerCase(),
  });
  const page = (id: string) => `/console/payouts/${id}`;
  expect(await leadsTo('Order_77%')).toBe(page(first));
  expect(await leadsTo(' order-78 ')).toBe(page(second));
  expect(await leadsTo(mixed.toLowerCase())).toBe(page(first));
  expect(await leadsTo(checksummed)).toBe(page(second));
  expect(await leadsTo(hash.toUpperCase().replace('0X', '0x'))).toBe(page(first));
  expect(await leadsTo(world.reviewer.email.toUpperCase())).toBe('/console/people');
  const own = await world.harness.createAccount();
  await world.harness.owner.query('UPDATE accounts SET name = ? WHERE id = ?', [
    'Zebra Books',
    own,
  ]);
  expect(await leadsTo('zebra books')).toBe(`/console/accounts/${own}`);
});

test('the start of a reference or a name shows what was found by kind, with status, amount, age and account', async () => {
  const own = await world.harness.createAccount();
  await world.harness.owner.query('UPDATE accounts SET name = ? WHERE id = ?', [PROBE, own]);
  for (let n = 0; n < 12; n += 1) {
    await makePayout({
      account_id: own,
      reference: `sale-${n} ${PROBE}`,
      amount: '3',
      total_debit: '3',
    });
  }
  await insert('recipients', {
    id: newId('recipient'),
    ...{ account_id: own, mode: 'test', name: 'SALE-Office', currency: 'BTC' },
    ...{ destination_type: 'exchange_id', destination_value: '9', created_by: 'k' },
  });
  const html = await results('sale-');
  expect(html.match(/<h2>[^<]+/g)).toEqual(['<h2>Payouts', '<h2>Recipients']);
  expect(html).toContain('The first 10. Type more of it to see others.');
  expect(html.match(/href="\/console\/payouts\/po_/g)).toHaveLength(10);
  expect(html).toContain(`/console/accounts/${own}/recipients?mode=test`);
  expect(html).toMatch(/Completed.*Live.*3\.00.*&quot;>&lt;script>/s);
  // What stands for any text in SQL stands for itself.
  for (const nothing of ['sale_', '%', 'SALE-1', 'sale-1%']) {
    expect(await results(`${nothing}x`)).toContain('Nothing was found');
  }
});

test('two objects with the same address are shown, and every page has the field', async () => {
  const address = `T${newId('payout')}`;
  await makePayout({ destination_value: address });
  await makePayout({ destination_value: address });
  expect(await leadsTo(address)).toBeNull();
  expect((await results(address)).match(/href="\/console\/payouts\/po_/g)).toHaveLength(2);
  expect(await results('x')).toContain('Enter at least 2 characters');
  expect(await read(viewer, '/home')).toContain('action="/console/search"');
});
