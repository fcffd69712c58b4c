/** What the pages of the dashboard tell and ask, as a browser without JavaScript sees it. */
import { sealBatch, signHead } from '../../../src/db/audit/audit-chain';
import { insertCompletedPayouts } from '../../support/merchant/large-ledger';
import { newId } from '../../../src/platform/lib/new-id';
import {
  buildPayoutMoney,
  completePayout,
  fund,
  fundedBalance,
  insertPayment,
  insertPayout,
  reservePayout,
} from '../../support/merchant/ledger';
import {
  makeUser,
  PageClient,
  signedIn,
  textOf,
  type TestUser,
} from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let accountId: string;
let owner: TestUser;
let client: PageClient;

beforeAll(async () => {
  accountId = await harness.createAccount();
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  client = new PageClient(gateway.url);
  await client.signIn(owner);
});

/** An endpoint with as many attempts. @returns its id */
async function makeEndpoint(url: string, failed: number, succeeded: number): Promise<string> {
  const id = newId('webhookEndpoint');
  await harness.owner.query(
    `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
     VALUES (?, ?, 'test', ?, '', 'key')`,
    [id, accountId, url],
  );
  await harness.owner.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence)
     SELECT 'evt_' || n || '_' || ?::text, ?, 'test', 'payout.completed', 'po_' || ?::text, n
       FROM generate_series(1, ?::integer) AS n`,
    [id, accountId, id, failed + succeeded],
  );
  await harness.owner.query(
    `WITH deliveries AS (
       INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, attempts, check_at,
                                       last_error, finished_at)
       SELECT 'whd_' || n || '_' || ?::text, 'evt_' || n || '_' || ?::text, ?,
              CASE WHEN n <= ? THEN 'failed' ELSE 'succeeded' END, 1, now(),
              CASE WHEN n <= ? THEN 'http_4xx' END, now()
         FROM generate_series(1, ?::integer) AS n
       RETURNING id, status
     )
     INSERT INTO webhook_attempts (delivery_id, number, manual, url, outcome, finished_at)
     SELECT id, 1, false, 'https://shop.example.com', status, now() FROM deliveries`,
    [id, id, id, failed, failed, failed + succeeded],
  );
  return id;
}

test('an endpoint that fails says so in the list and on home', async () => {
  const good = await makeEndpoint('https://good.example.com/', 1, 9);
  const home = () => textOf(client.get('/dashboard/test'));
  expect(await home()).not.toContain('A webhook endpoint is failing');
  const bad = await makeEndpoint('https://bad.example.com/', 6, 2);
  const html = await home();
  expect(html).toContain('A webhook endpoint is failing');
  expect(html).toContain('failed 6 of 8 recent attempts');
  expect(html).toContain(`/dashboard/test/webhooks/${bad}`);
  expect(html).not.toContain(`/dashboard/test/webhooks/${good}`);
  const list = await textOf(client.get('/dashboard/test/webhooks'));
  expect(list).toContain('6 of 8 recent attempts failed');
  expect(list).toContain('1 of 10 recent attempts failed');
  expect(list.match(/>Failing</g)).toHaveLength(1);
  expect(list.match(/>Some failed</g)).toHaveLength(1);
  // Two of two are no good health.
  await makeEndpoint('https://new.example.com/', 2, 0);
  await makeEndpoint('https://well.example.com/', 0, 2);
  const all = await textOf(client.get('/dashboard/test/webhooks'));
  expect([all.match(/>Failing</g)?.length, all.match(/>Healthy</g)?.length]).toEqual([2, 1]);
});

test('all events and single ones exclude each other', async () => {
  const both = new URLSearchParams([
    ['url', 'https://shop.example.com/hooks'],
    ['events', 'all'],
    ['events', 'payout.completed'],
  ]);
  const html = await textOf(client.post('/dashboard/test/webhooks/new', both), 422);
  expect(html).toContain('Choose all, or single ones, but not both.');
  expect(html).toContain('https://shop.example.com/hooks');
});

test('a form names every fault at once, in its own words', async () => {
  const key = new URLSearchParams({
    ...{ name: '', allow: '10.0.0.0/8, elsewhere', rate: '5000', expires: '2020-01-01' },
    ...{ currencies: '', payoutMax: 'USDT:5', dailyMax: 'BTC=-1' },
  });
  const ofKey = await textOf(client.post('/dashboard/test/keys/new', key), 422);
  const said = (html: string, field: string) =>
    new RegExp(`id="field-${field}-error"[^>]*>(?:<svg.*?</svg>)?([^<]*)`).exec(html)?.[1]?.trim();
  expect(Object.fromEntries([...key.keys(), 'scopes'].map((name) => [name, said(ofKey, name)])))
    .toMatchInlineSnapshot(`
   {
     "allow": "&quot;elsewhere&quot; is not an IP address or network. Use 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32, separated by commas.",
     "currencies": undefined,
     "dailyMax": "-1 is not a valid amount. Use a plain decimal greater than zero with at most 18 digits before and 8 after the decimal point.",
     "expires": "2020-01-01T23:59:59.000Z is in the past. Use a future time.",
     "name": "Enter a value.",
     "payoutMax": "USDT:5 is not a limit. Use a currency and an amount, such as USDT=500.",
     "rate": "5000 is out of range. Use a whole number from 1 to 1200.",
     "scopes": "Choose at least one.",
   }
  `);
  const endpoint = new URLSearchParams({ url: 'ftp://shop.example', description: 'x'.repeat(101) });
  const ofEndpoint = await textOf(client.post('/dashboard/test/webhooks/new', endpoint), 422);
  const fields = ['url', 'description', 'events'];
  expect(fields.map((name) => said(ofEndpoint, name))).toMatchInlineSnapshot(`
   [
     "The URL cannot be used: The URL must start with https:// or http://.",
     "It has 101 characters; the maximum is 100.",
     "Choose at least one.",
   ]
  `);
});

test('a link sets the scopes of a new key for a purpose', async () => {
  const scopesFor = async (preset: string) => {
    const html = await textOf(client.get(`/dashboard/test/keys/new?preset=${preset}`));
    return [...html.matchAll(/name="scopes" value="([^"]+)" checked/g)].map(([, scope]) => scope);
  };
  expect(await scopesFor('Accept+payments')).toEqual([
    'payments:write',
    'payments:read',
    'refunds:write',
  ]);
  expect(await scopesFor('Nothing')).toEqual([]);
});

test('a key that was created with a key gets no right to create keys', async () => {
  const [maker, made] = [
    await harness.createKey({ accountId, scopes: ['api_keys:write'] }),
    await harness.createKey({ accountId, scopes: ['balance:read'] }),
  ];
  const sql = 'UPDATE api_keys SET created_by_key = ? WHERE id = ?';
  await harness.owner.query(sql, [maker.id, made.id]);
  const edit = (id: string, scopes: string) =>
    client.post(`/dashboard/test/keys/${id}/edit`, { name: 'Till', scopes });
  const html = await textOf(edit(made.id, 'api_keys:write'), 422);
  expect(html).toContain('id="field-scopes-error"');
  expect((await edit(made.id, 'events:read')).status).toBe(303);
  expect((await edit(maker.id, 'api_keys:write')).status).toBe(303);
});

test('the form of a chat names every fault at once', async () => {
  const sent = { name: '', url: 'ftp://chat.example' };
  const html = await textOf(client.post('/dashboard/test/chats', sent), 422);
  for (const field of ['name', 'url', 'kinds']) expect(html).toContain(`id="field-${field}-error"`);
});

test('a payment link has networks that somebody chose, of coins with the same value', async () => {
  const path = '/dashboard/test/payment-links/new';
  const sent = { amount: '25', reference: 'order-1', currency: 'USDT' };
  const html = await textOf(client.post(path, sent), 422);
  expect(html).toContain('Choose what the customer pays with.');
  const mixed = new URLSearchParams({ amount: '25', reference: 'order-1' });
  for (const route of ['USDT tron', 'BTC bitcoin']) mixed.append('route', route);
  expect(await textOf(client.post(path, mixed), 422)).toContain('Choose networks of one currency.');
});

test('requiring a second factor says whom it stops, and asks first', async () => {
  const other = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const html = await textOf(client.get('/dashboard/people'));
  const asked = html.slice(html.lastIndexOf('<details'));
  expect(asked).toContain('Require two-step verification');
  expect(asked).toContain('people can do nothing here until they set one up');
  expect(asked).toContain(`${owner.email} (you)`);
  expect(asked).toContain(other.email);
  expect(asked).toContain('Require it from everybody');
});

test('a form that was sent after the session ended comes back after the sign-in', async () => {
  const path = '/dashboard/test/webhooks/new';
  const sent = {
    url: 'https://shop.example.com/typed',
    description: 'typed before',
    password: 'x',
  };
  const send = async (by: PageClient) => {
    await harness.owner.query(
      "UPDATE sessions SET last_seen_at = now() - interval '90 days' WHERE user_id = ?",
      [owner.id],
    );
    const headers = { 'sec-fetch-site': 'same-origin', referer: gateway.url + path };
    const answer = await by.post(path, sent, headers);
    expect(answer.headers.get('location')).toBe(
      `/dashboard/sign-in?next=${encodeURIComponent(path)}`,
    );
  };
  await send(client);
  await client.signIn(owner);
  const html = await textOf(client.get(path));
  expect(html).toContain('https://shop.example.com/typed');
  expect(html).toContain('Check the form and send it again.');
  expect(await textOf(client.get(path))).not.toContain('typed before');

  // Whoever signs in at the same browser instead does not see it.
  await send(client);
  await client.signIn(await makeUser(harness.owner, 'merchant', 'owner', accountId));
  expect(await textOf(client.get(path))).not.toContain('typed before');
  await client.signIn(owner);
});

test('a delivery shows its last error under its status, not as its next attempt', async () => {
  const id = await makeEndpoint('https://deliveries.example.com/', 1, 0);
  const html = await textOf(client.get(`/dashboard/test/webhooks/${id}`));
  expect(html).toMatch(/>Failed<\/span><small>4xx response<\/small>/);
});

test('home has the first steps with their states, until they are done or hidden', async () => {
  const fresh = await makeUser(harness.owner, 'merchant', 'owner', await harness.createAccount());
  const page = new PageClient(gateway.url);
  await page.signIn(fresh);
  const before = await page.read('/dashboard/test');
  expect(before).toContain('0 of 4 are done.');
  await page.post('/dashboard/test/keys/new', { name: 'Shop', scopes: 'payments:read' });
  const after = await page.read('/dashboard/test');
  expect(after).toContain('1 of 4 are done.');
  expect(after).not.toContain('href="/dashboard/test/keys/new"');
  await page.post('/dashboard/test/first-steps/hide');
  expect(await page.read('/dashboard/test')).not.toContain('First steps');
  expect(await page.read('/dashboard/live')).toContain('First steps');
});

test('the search finds what an account has in both modes, and nothing of others', async () => {
  const other = await harness.createAccount();
  const rows = { test: accountId, live: accountId };
  for (const [mode, account] of [...Object.entries(rows), ['test', other]] as const) {
    const key = { accountId: account, mode: mode as 'test', currency: 'USDT' };
    await insertPayout(harness.owner, key, buildPayoutMoney('12.5'), 'completed', {
      reference: `Salary-${mode}-${account.slice(-6)}`,
      tx_hash: `0xabc${account.slice(-6).toLowerCase()}`,
      destination_value: `0x${account.slice(-20).toLowerCase()}00000000000000000000`,
    });
  }
  const [theirs] = await harness.owner.query<{ id: string }>(
    'SELECT id FROM payouts WHERE account_id = ?',
    [other],
  );
  const mine = await harness.owner.query<{ id: string; mode: string; destinationValue: string }>(
    'SELECT id, mode, destination_value FROM payouts WHERE account_id = ?',
    [accountId],
  );
  const search = (text: string) =>
    client.get(`/dashboard/test/search?q=${encodeURIComponent(text)}`);
  const texts = ['alary-', '12.5', '12,50', `0xabc${accountId.slice(-6).toLowerCase()}`];
  for (const text of [...texts, mine[0]!.destinationValue]) {
    const html = await textOf(search(text));
    for (const { id, mode } of mine) expect(html).toContain(`/dashboard/${mode}/payouts/${id}`);
    expect(html).not.toContain(theirs!.id);
  }
  for (const { id, mode } of mine) {
    expect((await search(id)).headers.get('location')).toBe(`/dashboard/${mode}/payouts/${id}`);
  }
  expect(await textOf(search(theirs!.id))).toContain('Nothing was found');
  expect(await textOf(search(`0xabc${other.slice(-6).toLowerCase()}`))).toContain('Nothing was');
});

test('the dossier of a payout is downloaded by its account and by operators, the head of the audit log by operators', async () => {
  const payout = buildPayoutMoney('7');
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  await insertPayout(harness.owner, key, payout, 'completed');
  const path = `/payouts/${payout.id}/dossier.json`;
  const operator = new PageClient(gateway.url);
  await operator.signIn(await makeUser(harness.owner, 'operator', 'viewer'));
  for (const answer of [
    await client.get(`/dashboard/test${path}`),
    await operator.get(`/console${path}`),
  ]) {
    expect({ status: answer.status, url: answer.url }).toEqual({ status: 200, url: answer.url });
    expect(answer.headers.get('content-disposition')).toContain(`dossier-${payout.id}.json`);
    expect(await answer.json()).toMatchObject({
      data: { id: payout.id, object: 'payout_dossier', payout: { amount: payout.amount } },
    });
  }
  const stranger = new PageClient(gateway.url);
  const other = await harness.createAccount();
  await stranger.signIn(await makeUser(harness.owner, 'merchant', 'owner', other));
  expect((await stranger.get(`/dashboard/test${path}`)).status).toBe(404);

  await sealBatch(harness.owner);
  const before = await operator.get('/console/audit-log/head.json');
  expect(before.status).toBe(404);
  const head = await signHead(harness.owner, null);
  expect(await operator.read('/console/audit-log')).toContain(head!.hash);
  expect(await (await operator.get('/console/audit-log/head.json')).json()).toEqual(head);
});

test('a payment lists every transfer, and the search finds it by address, hash and customer', async () => {
  const deposit = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const seen = { status: 'seen', seenAt: '2026-11-20T10:00:00.000Z', confirmedAt: null };
  const id = await insertPayment(
    harness.owner,
    { accountId, mode: 'live', currency: 'USDT' },
    'processing',
    {
      customer_email: 'Ada@Example.com',
      deposit_address: deposit,
      transfers: JSON.stringify([{ id: 't-1', amount: '2.00000000', txHash: '0xfeed', ...seen }]),
    },
  );
  const html = await client.read(`/dashboard/live/payments/${id}`);
  expect(html).toMatch(/Seen, not confirmed.*2026-11-20 10:00:00.*etherscan\.io\/tx\/0xfeed/s);
  expect(html).toContain(`etherscan.io/address/${deposit}`);
  await harness.owner.query(
    `INSERT INTO payment_credits (payment_id, provider_transfer_id, amount, fee, tx_hash)
     VALUES (?, 't-1', 2, 0, '0xfeed')`,
    [id],
  );
  const after = await client.read(`/dashboard/live/payments/${id}`);
  expect(after).not.toContain('Seen, not confirmed');
  expect(after).toContain('Credited<small>');
  for (const text of [deposit.toLowerCase(), '0xFEED', 'ada@example.com']) {
    expect(await client.read(`/dashboard/test/search?q=${text}`)).toContain(id);
  }
});

test('the search for a customer shows the newest payments of each mode', async () => {
  const email = 'grace@example.com';
  const pay = (mode: 'live' | 'test') =>
    insertPayment(harness.owner, { accountId, mode, currency: 'USDT' }, 'created', {
      customer_email: email,
    });
  const inTest = [];
  for (let count = 0; count < 11; count += 1) inTest.push(await pay('test'));
  const inLive = await pay('live');
  const html = await client.read(`/dashboard/live/search?q=${email}`);
  const shown = new Set(html.match(/pay_[0-9A-Z]{26}/g));
  expect([...shown].sort()).toEqual([...inTest.slice(1), inLive].sort());
});

test('a batch is one line of the transactions, which opens', async () => {
  const shop = await harness.createAccount();
  const viewer = await signedIn(
    gateway.url,
    await makeUser(harness.owner, 'merchant', 'viewer', shop),
  );
  const key = { accountId: shop, mode: 'test', currency: 'USDT' } as const;
  await fund(harness.owner, key, '1000');
  const batch = newId('payoutBatch');
  await harness.owner.query(
    `INSERT INTO payout_batches (id, account_id, mode, reference, status, row_count, totals,
                                 manifest_sha256, api_key_id, review_reasons)
     VALUES (?, ?, 'test', 'wages-11', 'processing', 30, '[]', repeat('0', 64), 'key', '{}')`,
    [batch, shop],
  );
  const payouts: ReturnType<typeof buildPayoutMoney>[] = [];
  for (let row = 0; row < 30; row += 1) {
    const payout = buildPayoutMoney('10');
    await reservePayout(harness.owner, key, payout);
    await harness.owner.query('UPDATE payouts SET batch_id = ?, batch_row = ? WHERE id = ?', [
      ...[batch, row, payout.id],
    ]);
    payouts.push(payout);
  }
  for (const payout of payouts.slice(27)) await completePayout(harness.owner, key, payout);
  const alone = buildPayoutMoney('7');
  await reservePayout(harness.owner, key, alone);
  const list = await viewer.read('/dashboard/test/transactions');
  expect(list.match(/Batch <span class="reference">wages-11:<\/span> \d+ payouts/g)).toEqual([
    'Batch <span class="reference">wages-11:</span> 3 payouts',
    'Batch <span class="reference">wages-11:</span> 30 payouts',
  ]);
  expect(list).toContain(`/payouts/${alone.id}`);
  const sum = Number(buildPayoutMoney('10').totalDebit) * 30;
  expect(list).toContain(`−<span class="money" title="${sum.toFixed(8)} USDT">`);
  const opens = /href="(\/dashboard\/test\/transactions\?batch=[^"]*payout_reserve[^"]*)"/.exec(
    list,
  )!;
  const rows = await viewer.read(opens[1]!.replaceAll('&amp;', '&'));
  expect(rows.match(/\/payouts\/po_/g)).toHaveLength(25);
  expect(rows).not.toContain(alone.id);
});

test('a page of transactions reads a part of a long batch, and the next page goes on', async () => {
  const { owner } = harness;
  const key = await fundedBalance(owner, '20000');
  const viewer = await signedIn(
    gateway.url,
    await makeUser(owner, 'merchant', 'viewer', key.accountId),
  );
  await insertCompletedPayouts(
    owner,
    { ...key, apiKeyId: 'key_many', first: 0, count: 1_200 },
    { isNoted: false },
  );
  const batch = newId('payoutBatch');
  await owner.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(
      `INSERT INTO payout_batches (id, account_id, mode, reference, status, row_count, totals,
                                   manifest_sha256, api_key_id, review_reasons)
       VALUES (?, ?, ?, 'many', 'processing', 1200, '[]', repeat('0', 64), 'key', '{}')`,
      [batch, key.accountId, key.mode],
    );
    await tx.query(
      `UPDATE payouts SET batch_id = ?, batch_row = substr(id, 4)::integer WHERE account_id = ?`,
      [batch, key.accountId],
    );
    await tx.query(
      `UPDATE ledger_transactions SET posted_at = posted_at + interval '1 hour'
        WHERE account_id = ? AND type = 'payout_settlement'`,
      [key.accountId],
    );
  });
  const counts: string[] = [];
  let path: string | undefined = `/dashboard/${key.mode}/transactions`;
  while (path !== undefined) {
    const html = await viewer.read(path);
    counts.push(...[...html.matchAll(/Batch many: ([\d,]+) payouts/g)].map(([, n]) => n!));
    path = /href="([^"]*after=[^"]*)"[^>]*>\s*(?:Next|Older)/
      .exec(html)?.[1]
      ?.replaceAll('&amp;', '&');
  }
  expect(counts).toEqual(['1,000', '200', '800', '400']);
});
