/** Operators find payouts of all accounts in the console, and see which wait for their provider. */
import { openCase } from '../../../src/db/cases/cases';
import { noteOnPayout, takeTransition } from '../../../src/db/payouts/payouts';
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { newId } from '../../../src/platform/lib/new-id';
import { insertPayment } from '../../support/merchant/ledger';
import { makeUser, PageClient } from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

const PROBE = '"><script>alert(1)</script>';
const MINUTE_MS = 60_000;

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let accountId: string;
let viewer: PageClient;

beforeAll(async () => {
  accountId = await harness.createAccount();
  viewer = new PageClient(gateway.url);
  await viewer.signIn(await makeUser(harness.owner, 'operator', 'viewer'));
});

const read = (path: string) => viewer.read(`/console${path}`);

const payoutsIn = (html: string) => [...html.matchAll(/payouts\/(po_\w+)"/g)].map(([, id]) => id!);

/** @returns its id */
async function makePayout(fields: Record<string, string> = {}): Promise<string> {
  const id = newId('payout');
  const row = {
    id,
    account_id: accountId,
    mode: 'live',
    reference: `ref-${id}`,
    status: 'completed',
    provider: 'onchain_provider',
    amount: '12.5',
    currency: 'USDT',
    network: 'tron',
    destination_type: 'crypto_address',
    destination_value: magicAddress('sends', 'tron'),
    service_fee: '0',
    network_fee: '0',
    total_debit: '12.5',
    fee_terms: '{}',
    api_key_id: 'key_none',
    review_reasons: '{}',
    ...fields,
  };
  const names = Object.keys(row);
  await harness.owner.query(
    `INSERT INTO payouts (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(row),
  );
  return id;
}

test('payouts in every status are listed, newest first and page by page', async () => {
  const own = await harness.createAccount();
  const statuses = [
    'requested',
    'approved',
    'processing',
    'completed',
    'failed',
    'cancelled',
  ] as const;
  const ids: string[] = [];
  for (let n = 0; n < 30; n += 1) {
    const status = statuses[n % statuses.length]!;
    ids.unshift(await makePayout({ account_id: own, status, mode: n % 2 === 0 ? 'live' : 'test' }));
  }
  const first = await read(`/payouts?account=${own}`);
  const [, next] = /href="([^"]+)" rel="next"/.exec(first)!;
  const second = await read(next!.replaceAll('&amp;', '&').replace('/console', ''));
  expect([...payoutsIn(first), ...payoutsIn(second)]).toEqual(ids);
  expect(payoutsIn(await read(`/payouts?account=${own}&status=failed`))).toHaveLength(5);
  expect(payoutsIn(await read(`/payouts?account=${own}&mode=test`))).toHaveLength(15);
  expect(payoutsIn(await read(`/payouts?account=${own}&currency=btc`))).toEqual([]);
});

test('a payout is found by its id, reference, account, address and transaction', async () => {
  const address = magicAddress('callback_lost', 'tron');
  const id = await makePayout({
    reference: `invoice ${PROBE}`,
    destination_value: address,
    tx_hash: 'f00d',
    currency: 'BTC',
  });
  for (const search of [id, `invoice ${PROBE}`, address, 'f00d']) {
    const html = await read(`/payouts?${new URLSearchParams({ search })}`);
    expect([search, payoutsIn(html)]).toEqual([search, [id]]);
  }
  expect(payoutsIn(await read(`/payouts?account=${accountId}&currency=btc`))).toEqual([id]);
  expect(payoutsIn(await read(`/payouts?search=f00d&mode=test`))).toEqual([]);
});

test('who may not read the console gets no list of payouts', async () => {
  const stranger = new PageClient(gateway.url);
  expect((await stranger.get('/console/payouts')).status).toBe(303);
  await stranger.signIn(await makeUser(harness.owner, 'merchant', 'owner', accountId));
  expect((await stranger.get('/console/payouts')).status).toBe(303);
});

test('a payout that hangs is on home, in the list and on its page, then in its timeline', async () => {
  const since = new Date(Date.now() - 20 * MINUTE_MS);
  const id = await makePayout({ status: 'processing', processing_since: since.toISOString() });
  expect(await read('/home')).not.toContain('stuck');
  await noteOnPayout(harness.owner, id, 'processing', { attentionLevel: 1 });

  const home = await read('/home');
  expect(home).toMatch(/<b>1<\/b> live payout is stuck in processing<small>.*12\.50.*for 20 min/);
  expect(payoutsIn(await read('/payouts?wait=stuck&mode=live'))).toEqual([id]);
  const told = /Stuck for 20 min[^<]*, attention level 1 of 3/;
  expect(await read(`/payouts?search=${id}`)).toMatch(told);
  expect(await read(`/payouts/${id}`)).toMatch(told);

  await harness.owner.transaction((tx) =>
    takeTransition(tx, id, 'complete', { txHash: 'beef', attentionLevel: 0 }),
  );
  const after = await read(`/payouts/${id}`);
  expect(after).not.toMatch(told);
  expect(after).toContain('Stuck: attention level 1 of 3');
  expect(after).toContain('No result from the provider for more than 15 min');
  expect(await read('/home')).not.toContain('stuck');
});

test('a payout in doubt is on home with its money, on its page, then in its timeline', async () => {
  const id = await makePayout({ status: 'approved', currency: 'XRP', amount: '12.5' });
  const since = new Date(Date.now() - 180 * MINUTE_MS);
  await noteOnPayout(harness.owner, id, 'approved', { inDoubtSince: since });
  await noteOnPayout(harness.owner, id, 'approved', { attentionLevel: 2 });

  const home = await read('/home');
  expect(home).toMatch(/not confirmed by its provider<small>.*12\.50.*XRP.*for 3 h</);
  expect(payoutsIn(await read('/payouts?wait=in_doubt'))).toEqual([id]);
  expect(await read(`/payouts/${id}`)).toContain('In doubt for 3 h, attention level 2 of 3');

  await harness.owner.transaction((tx) =>
    takeTransition(tx, id, 'accept', { inDoubtSince: null, attentionLevel: 0 }),
  );
  const after = await read(`/payouts/${id}`);
  expect(after).toContain('<b>In doubt</b>');
  expect(after).toContain('Still in doubt: attention level 2 of 3');
  expect(after).not.toContain('In doubt for');
});

test('a first destination cannot be ticked in the queue, and the row says why', async () => {
  const reviewed = { status: 'under_review', review_reasons: '{first_use_of_destination}' };
  const paid = magicAddress('sends', 'tron');
  const first = await makePayout({
    ...reviewed,
    destination_value: magicAddress('fails_later', 'tron'),
  });
  await makePayout({ destination_value: paid });
  const known = await makePayout({ ...reviewed, destination_value: paid });
  const reviewer = new PageClient(gateway.url);
  await reviewer.signIn(await makeUser(harness.owner, 'operator', 'reviewer'));
  const html = await (await reviewer.get('/console/queue')).text();
  expect(html).toContain('First destination: decide on its page');
  expect(html).toContain(`value="${known}"`);
  expect(html).not.toContain(`value="${first}"`);
});

test('“last paid” is when the payout was completed, and a dashboard payout names its user', async () => {
  const person = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  const address = magicAddress('slow', 'tron');
  await makePayout({
    destination_value: address,
    created_at: '2026-01-01T10:00:00Z',
    updated_at: '2026-01-02T11:00:00Z',
  });
  const id = await makePayout({
    status: 'under_review',
    review_reasons: '{new_api_key}',
    destination_value: address,
    api_key_id: person.id,
  });
  const html = await read(`/payouts/${id}`);
  expect(html).toMatch(/Last paid<\/dt><dd><time datetime="2026-01-02T11:00:00/);
  expect(html).toContain('User was');
  expect(html).not.toContain('API key was');
});

test('a pause of an account that does not exist keeps its reason', async () => {
  const admin = new PageClient(gateway.url);
  await admin.signIn(await makeUser(harness.owner, 'operator', 'admin'));
  const wish = { scope: 'account', target: 'acc_wrong', mode: '', reason: 'Court order 17' };
  const response = await admin.post('/console/pauses', wish);
  expect(response.status).toBe(422);
  const html = await response.text();
  expect(html).toContain('This account does not exist.');
  expect(html).toContain('value="Court order 17"');
});

test('payouts are filtered by provider, amount, age and attention level', async () => {
  const own = await harness.createAccount();
  const make = (fields: Record<string, string>) => makePayout({ account_id: own, ...fields });
  const money = (amount: string) => ({ amount, total_debit: amount });
  const hour = new Date(Date.now() - 61 * MINUTE_MS).toISOString();
  const old = new Date(Date.now() - 40 * 24 * 60 * MINUTE_MS).toISOString();
  const small = await make({ ...money('0.00000002'), provider: 'exchange_pay', created_at: hour });
  const large = await make({ ...money('1000000'), attention_level: '2', status: 'processing' });
  const past = await make({ ...money('1000000'), created_at: old });
  const list = async (query: string) => payoutsIn(await read(`/payouts?account=${own}&${query}`));
  expect(await list('provider=exchange_pay')).toEqual([small]);
  expect(await list('min=0.00000003')).toEqual([large]);
  expect(await list('max=0.00000002')).toEqual([small]);
  expect(await list('older=1_hour')).toEqual([small, past]);
  expect(await list('older=6_hours')).toEqual([past]);
  expect(await list('level=2')).toEqual([large]);
  expect(await list('level=3')).toEqual([]);
  // What has no index looks at the last days, says so, and at all days that are asked for.
  expect(await read('/payouts?min=1000000')).toContain('The last 30 days.');
  expect(await list('min=1000000&from=2020-01-01')).toEqual([large, past]);
  const wrong = await viewer.get('/console/payouts?min=1e3');
  expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('1e3')]);
});

test('an operator gives filters a name, opens them, replaces and removes them, and nobody else sees them', async () => {
  const query = 'status=failed&min=5';
  const page = await read(`/payouts?${query}&after=2026-01-01T00:00:00.000000Z~po_1`);
  expect(page).toContain('value="status=failed&amp;min=5"');
  const save = (name: string, text = query) =>
    viewer.post('/console/payouts/filters', { name, query: text });
  const saved = await save(`Failed ${PROBE}`);
  expect(saved.headers.get('location')).toBe(`/console/payouts?${query}`);
  const chip = 'href="/console/payouts?status=failed&amp;min=5" aria-current="page"';
  expect(await read(`/payouts?${query}`)).toContain(chip);
  expect(await read('/payouts')).toContain('href="/console/payouts?status=failed&amp;min=5"');
  await save(`Failed ${PROBE}`, 'status=rejected&after=x');
  const replaced = await read('/payouts');
  expect(replaced).toContain('href="/console/payouts?status=rejected"');
  expect(replaced).not.toContain('min=5');
  const other = new PageClient(gateway.url);
  await other.signIn(await makeUser(harness.owner, 'operator', 'viewer'));
  expect(await (await other.get('/console/payouts')).text()).not.toContain(
    'aria-label="Saved filters"',
  );
  await other.post('/console/payouts/filters/remove', { name: `Failed ${PROBE}` });
  const empty = await save(' ');
  expect([empty.status, await empty.text()]).toEqual([
    422,
    expect.stringContaining('Enter a value.'),
  ]);
  for (let n = 1; n < 20; n += 1) await save(`Filter ${n}`);
  const many = await save('One more');
  expect([many.status, await many.text()]).toEqual([
    422,
    expect.stringContaining('Remove one first.'),
  ]);
  expect((await save('Filter 1')).status).toBe(303);
  await viewer.post('/console/payouts/filters/remove', { name: `Failed ${PROBE}` });
  expect(await read('/payouts')).not.toContain('status=rejected');
});

test('home shows what waits in each mode, with the longest wait and the money of each currency', async () => {
  const own = await harness.createAccount();
  const hours = (count: number) => new Date(Date.now() - count * 60 * MINUTE_MS).toISOString();
  const reviewed = { account_id: own, status: 'under_review', review_reasons: '{review_all}' };
  const money = (amount: string, currency: string) => ({ amount, total_debit: amount, currency });
  await makePayout({ ...reviewed, mode: 'test', ...money('5', 'ETH'), created_at: hours(3) });
  const asked = await makePayout({ ...reviewed, mode: 'test', ...money('7', 'TRX') });
  await makePayout({
    ...money('9', 'SOL'),
    status: 'approved',
    wake_after: hours(-1),
    updated_at: hours(2),
  });
  await openCase(harness.owner, 'sent_twice', asked, {});
  const home = await read('/home');
  expect(home).toMatch(
    /<b>2<\/b> test payouts wait for review<small>.*5\.00.*ETH.*7\.00.*TRX.*the longest for 3 h</,
  );
  expect(home).toMatch(
    /<b>1<\/b> live approved payout is held by a pause<small>.*9\.00.*SOL.*for 2 h</,
  );
  expect(home).toMatch(/<b>1<\/b> open case: sent twice<small>.*7\.00.*TRX.*for \d+ m?s</);
});

test('the page of a payout tells its whole story: events, what the merchant was told and answered, cases, explorers', async () => {
  const id = await makePayout({
    network: 'ethereum',
    tx_hash: '0xbeef',
    destination_value: '0xAb',
  });
  const unsubscribed = newId('event');
  const [event, endpoint, delivery] = [
    newId('event'),
    newId('webhookEndpoint'),
    newId('webhookDelivery'),
  ];
  const insertEvent = (eventId: string, type: string, sequence: string) =>
    harness.owner.query(
      `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body)
       VALUES (?, ?, 'live', ?, ?, ?::integer, ?)`,
      [
        eventId,
        accountId,
        type,
        id,
        sequence,
        Buffer.from(`{"type":"${type}","x":"${PROBE.slice(2)}"}`),
      ],
    );
  await insertEvent(unsubscribed, 'payout.processing', '1');
  await insertEvent(event, 'payout.completed', '2');
  await harness.owner.query(
    `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
     VALUES (?, ?, 'live', 'https://shop.example/hook', 'x', 'k')`,
    [endpoint, accountId],
  );
  await harness.owner.query(
    `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, attempts, next_attempt_at, check_at)
     VALUES (?, ?, ?, 1, '2030-01-01T00:00:00Z', now())`,
    [delivery, event, endpoint],
  );
  await harness.owner.query(
    `INSERT INTO webhook_attempts (delivery_id, number, manual, url, status, error, duration_ms)
     VALUES (?, 1, false, 'https://shop.example/hook', 503, 'The endpoint answered 503.', 35)`,
    [delivery],
  );
  await openCase(harness.owner, 'sent_twice', id, {});
  const html = await read(`/payouts/${id}`);
  expect(html).toMatch(
    /shop\.example.*1 attempt, answer 503 in 35 ms: The endpoint answered 503\./,
  );
  expect(html).toMatch(/next attempt <time datetime="2030-01-01/);
  expect(html).toContain('The merchant was not notified: no endpoint receives this event.');
  expect(html).toContain('{"type":"payout.completed"'.replaceAll('"', '&quot;'));
  expect(html).toContain('href="https://etherscan.io/tx/0xbeef"');
  expect(html).toContain('href="https://etherscan.io/address/0xAb"');
  const [, opened = ''] = /\/console(\/cases\/case_\w+)">Sent twice/.exec(html) ?? [];
  const evidence = await read(opened);
  expect(evidence).toContain('href="https://etherscan.io/tx/0xbeef"');
  expect(evidence).toContain('href="https://etherscan.io/address/0xAb"');
  expect(html).toContain('Temporal did not answer, so the timeline lacks');
  // A hash of test mode is on no public network.
  const test = await makePayout({ mode: 'test', network: 'ethereum', tx_hash: '0xbeef' });
  expect(await read(`/payouts/${test}`)).not.toContain('etherscan');
});

test('the page of a payment leads to the explorer of its transaction, and not in test mode', async () => {
  const paid = (mode: 'live' | 'test') =>
    insertPayment(harness.owner, { accountId, mode, currency: 'ETH' }, 'completed', {
      tx_hash: '0xcafe',
    });
  const [live, test] = await Promise.all([paid('live'), paid('test')]);
  expect(await read(`/payments/${live}`)).toContain('href="https://etherscan.io/tx/0xcafe"');
  expect(await read(`/payments/${test}`)).not.toContain('etherscan');
});

test('operators leave notes on payouts and cases, which stay in the audit log and which the merchant does not see', async () => {
  const reviewer = new PageClient(gateway.url);
  const person = await makeUser(harness.owner, 'operator', 'reviewer');
  await reviewer.signIn(person);
  const id = await makePayout();
  await openCase(harness.owner, 'sent_twice', id, {});
  const [found] = await harness.owner.query<{ id: string }>(
    'SELECT id FROM cases WHERE object_id = ?',
    [id],
  );
  for (const path of [`/payouts/${id}`, `/cases/${found!.id}`]) {
    const note = `Asked the provider ${PROBE}`;
    for (const text of [note, note]) {
      const { status, headers } = await reviewer.post(`/console${path}/notes`, { handover: text });
      expect([status, headers.get('location')]).toEqual([303, `/console${path}#notes`]);
    }
    const html = await read(path);
    expect(html.match(/Asked the provider/g)).toHaveLength(1);
    expect(html).toContain(person.email);
    // A viewer reads them.
    expect(html).not.toContain('Add the note');
    const empty = await reviewer.post(`/console${path}/notes`, { handover: ' ' });
    expect([empty.status, await empty.text()]).toEqual([
      422,
      expect.stringContaining('Enter a value.'),
    ]);
  }
  const logged = await harness.owner.query(
    `SELECT action, actor, via, account_id FROM audit_log WHERE reason LIKE 'Asked the provider%' ORDER BY id`,
  );
  const entry = { actor: person.email, via: 'console', accountId };
  expect(logged).toEqual([
    { action: 'payout.note', ...entry },
    { action: 'case.note', ...entry },
  ]);
  const owner = new PageClient(gateway.url);
  await owner.signIn(await makeUser(harness.owner, 'merchant', 'owner', accountId));
  expect(await (await owner.get('/dashboard/live/audit-log')).text()).not.toContain('Asked');
});

test('the queue has rows with reference and reasons in short, says once what all share, and is sorted', async () => {
  const own = await harness.createAccount();
  const reviewed = { account_id: own, status: 'under_review' };
  const money = (amount: string) => ({ amount, total_debit: amount });
  const small = await makePayout({
    ...{ ...reviewed, ...money('1'), reference: 'small order' },
    review_reasons: '{review_all}',
  });
  const large = await makePayout({
    ...{ ...reviewed, ...money('9'), reference: 'large order' },
    review_reasons: '{review_all,new_api_key}',
  });
  const reviewer = new PageClient(gateway.url);
  await reviewer.signIn(await makeUser(harness.owner, 'operator', 'reviewer'));
  const queue = async (query = '') =>
    (await reviewer.get(`/console/queue?account=${own}${query}`)).text();
  const html = await queue();
  expect(html.match(/Every live payout of this account is reviewed\./g)).toHaveLength(1);
  expect(html).toContain('Why all of these wait:');
  expect(html).not.toContain('Account reviewed');
  expect(html.match(/class="chip"[^>]*>[^<]+/g)).toEqual([
    'class="chip" title="The API key is less than 24 hours old.">New key',
  ]);
  expect(html).toMatch(/small order.*large order/s);
  expect(html).toContain('data-select-all="id"');
  expect(html).toMatch(/id="queue" class="follows" data-follow/);
  expect(payoutsIn(html)).toEqual([small, large]);
  expect(payoutsIn(await queue('&order=newest'))).toEqual([large, small]);
  expect(payoutsIn(await queue('&order=largest'))).toEqual([large, small]);
  expect(payoutsIn(await queue('&order=smallest'))).toEqual([small, large]);
});
