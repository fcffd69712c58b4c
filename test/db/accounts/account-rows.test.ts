/**
 * Row-level security by account: what a merchant's page reads, it reads as a role that sees the rows of one
 * account only, whatever the statement asks for.
 */
import { asAccount } from '../../../src/db/as-account';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import { findPayment } from '../../../src/db/payments/payments';
import { listAttempts } from '../../../src/db/webhooks/webhook-attempts';
import { listHistory } from '../../../src/db/object-history';
import type { Db, Reader } from '../../../src/db/transaction';
import { findOwnKey, listOwnKeys } from '../../../src/features/api-keys/api-keys';
import {
  findOwnDelivery,
  listOwnDeliveries,
  readOwnDelivery,
} from '../../../src/features/webhooks/webhook-deliveries';
import {
  countOwnAttempts,
  countOwnRecentAttempts,
  findOwnEndpoint,
  listOwnEndpoints,
  listOwnWarnings,
} from '../../../src/features/webhooks/webhook-endpoints';
import { findTextOf } from '../../../src/shell/dashboard/search-services';
import { createDashboardServices } from '../../../src/shell/dashboard/services';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { makeUser } from '../../support/merchant/page-client';
import { buildPayoutMoney, fund, insertPayout, makeAccount } from '../../support/merchant/ledger';

/** What a merchant's pages read. The role reads nothing else. */
const TABLES = [
  'api_keys',
  'audit_log',
  'balances',
  'events',
  'ledger_entries',
  'ledger_transactions',
  'payment_credits',
  'payment_links',
  'payment_refunds',
  'payments',
  'payout_batches',
  'payout_beneficiaries',
  'payout_conditions',
  'payout_pauses',
  'payout_schedule_runs',
  'payout_schedules',
  'payouts',
  'posting_sums',
  'recipients',
  'request_log',
  'webhook_attempts',
  'webhook_deliveries',
  'webhook_endpoints',
];

let database: TestDatabase;
let owner: Db;
/** With one connection, so that each statement finds what the one before it left. */
let pages: Db;
let account: string;
let other: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 1, applicationName: 'account-rows-test' });
  owner = open(database.ownerUrl);
  pages = open(database.dashboardUrl);
  [account, other] = [await makeAccount(owner), await makeAccount(owner)];
  for (const id of [account, other]) await fill(id);
});

afterAll(async () => {
  await Promise.all([owner.destroy(), pages.destroy()]);
  await database.drop();
});

/** At least one row in every table. The ids end with the account's. */
async function fill(id: string): Promise<void> {
  const key = { accountId: id, mode: 'test', currency: 'USDT' } as const;
  await fund(owner, key, '10');
  const payout = { ...buildPayoutMoney('4'), id: `po_${id}` };
  await insertPayout(owner, key, payout, 'requested');
  const insert = (sql: string) => owner.query(sql, [id]);
  const WHO = `WITH q (account) AS (VALUES (?::text)) INSERT INTO`;
  await insert(`${WHO} api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four,
                                 scopes)
    SELECT 'key_' || account, account, 'test', 'Key', account::bytea, 'sk_test_', 'abcd', '{}' FROM q`);
  await insert(`${WHO} audit_log (actor, via, action, object, object_id, account_id)
    SELECT 'x', 'dashboard', 'api_key.create', 'api_key', 'key_' || account, account FROM q`);
  await insert(`${WHO} payments (id, account_id, mode, reference, status, provider, amount, currency,
                                 fee_terms, checkout_url, api_key_id, provider_checkout_id, expires_at)
    SELECT 'pay_' || account, account, 'test', 'order', 'created', 'onchain_provider', 10, 'USDT', '{}',
           'https://pay.example/1', 'key_' || account, 'och_' || account, now() FROM q`);
  await insert(`${WHO} payment_credits (payment_id, provider_transfer_id, amount, fee, tx_hash)
    SELECT 'pay_' || account, 'transfer', 10, 0, 'hash' FROM q`);
  await insert(`${WHO} payment_links (id, account_id, mode, user_id, amount, routes, reference, request,
                                      expires_at)
    SELECT 'plink_' || account, account, 'test', 'usr_' || account, 1, '{USDT tron}', 'link', '{}',
           now() FROM q`);
  await insert(`${WHO} payment_refunds (payment_id, reference, amount, taken, fee, state)
    SELECT 'pay_' || account, 'rf_' || account, 1, 1, 0, 'ordered' FROM q`);
  await insert(`${WHO} payout_batches (id, account_id, mode, reference, status, row_count, totals,
                                       manifest_sha256, api_key_id, review_reasons)
    SELECT 'pb_' || account, account, 'test', 'batch', 'requested', 1, '[]', repeat('0', 64),
           'key_' || account, '{}' FROM q`);
  await insert(`${WHO} payout_schedules (id, account_id, mode, reference, interval_seconds, start_at,
                                         payouts, totals, api_key_id)
    SELECT 'ps_' || account, account, 'test', 'rent', 60, now(), '[]', '[]', 'key_' || account
      FROM q`);
  await insert(`${WHO} payout_schedule_runs (id, schedule_id, scheduled_for, batch_id)
    SELECT 'psr_' || account, 'ps_' || account, now(), 'pb_' || account FROM q`);
  await insert(`${WHO} payout_beneficiaries (payout_id, sealed, key_id)
    SELECT 'po_' || account, '\\x00', 'key' FROM q`);
  await insert(`${WHO} payout_conditions (payout_id, kind) SELECT 'po_' || account, 'time' FROM q`);
  await insert(
    `${WHO} payout_pauses (scope, target, reason) SELECT 'account', account, 'x' FROM q`,
  );
  await insert(`${WHO} posting_sums
    SELECT account, 'test', 'USDT', 0, current_date, 'adjustment', 'available', 'in', 10, 1 FROM q`);
  await insert(`${WHO} recipients (id, account_id, mode, name, currency, destination_type,
                                   destination_value, created_by)
    SELECT 'rcp_' || account, account, 'test', 'Ada', 'USDT', 'exchange_id', '1', 'key_' || account
      FROM q`);
  await insert(`${WHO} request_log
    SELECT 'req_' || account, floor(extract(epoch FROM now()) / 86400)::int % 9, account, 'test',
           'key_' || account, now(), 'GET', '/api/v1/balance', '', 200, false, NULL, '127.0.0.1', 'x', 1,
           NULL, NULL FROM q`);
  await insert(`${WHO} webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
    SELECT 'we_' || account, account, 'test', 'https://shop.example/', '\\x00', 'key' FROM q`);
  await insert(`${WHO} webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
    SELECT 'whd_' || account, e.id, 'we_' || account, now(), now()
      FROM q JOIN events e ON e.object_id = 'po_' || account`);
  await insert(`${WHO} webhook_attempts (delivery_id, number, manual, url, outcome, status)
    SELECT 'whd_' || account, 1, false, 'https://shop.example/', 'succeeded', 200 FROM q`);
}

const read = <T>(id: string, sql: string) => asAccount(pages, id).query<T>(sql);
const count = async (db: Reader, table: string) =>
  (await db.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${table}`))[0]!.n;

test('the role reads these tables, each with row-level security, and changes nothing', async () => {
  const found = await owner.query<{ name: string; isSecured: boolean; mayChange: boolean }>(
    `SELECT relname AS name, relrowsecurity AS is_secured,
            has_any_column_privilege('gateway_merchant', oid, 'INSERT, UPDATE, REFERENCES')
              OR has_table_privilege('gateway_merchant', oid, 'DELETE, TRUNCATE, TRIGGER') AS may_change
       FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
        AND has_any_column_privilege('gateway_merchant', oid, 'SELECT') ORDER BY relname`,
  );
  expect(found).toEqual(TABLES.map((name) => ({ name, isSecured: true, mayChange: false })));
  const functions = await owner.query(
    `SELECT proname, prosecdef FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND has_function_privilege('gateway_merchant', oid, 'EXECUTE') ORDER BY proname`,
  );
  // conditions_of_payout reads as its caller, so that the rows are the account's own; link_references reads nothing; the
  // others compare the account.
  expect(functions).toEqual([
    { proname: 'approved_by_second_person', prosecdef: true },
    { proname: 'conditions_of_payout', prosecdef: false },
    { proname: 'key_awaits_second_person', prosecdef: true },
    { proname: 'link_references', prosecdef: false },
    { proname: 'person_of_requester', prosecdef: true },
    { proname: 'schedule_awaits_second_person', prosecdef: true },
  ]);
});

test.each(TABLES)('an account sees its own rows of %s, and a stranger none', async (table) => {
  const all = await count(owner, table);
  expect(all).toBeGreaterThan(0);
  expect(await count(pages, table)).toBe(all);
  expect(await count(asAccount(pages, account), table)).toBe(all / 2);
  expect(await count(asAccount(pages, other), table)).toBe(all / 2);
  for (const stranger of ['acc_nobody', '', '%', `${account}' OR 'a'='a`]) {
    expect(await count(asAccount(pages, stranger), table)).toBe(0);
  }
});

test('a statement that forgets its account finds what is the account’s own', async () => {
  const forgetful = `SELECT account_id FROM payouts UNION SELECT account_id FROM payments
    UNION SELECT account_id FROM events UNION SELECT account_id FROM balances
    UNION SELECT account_id FROM ledger_transactions UNION SELECT account_id FROM request_log
    UNION SELECT account_id FROM audit_log UNION SELECT account_id FROM api_keys
    UNION SELECT account_id FROM webhook_endpoints UNION SELECT account_id FROM posting_sums`;
  expect(await read(account, forgetful)).toEqual([{ accountId: account }]);
  expect(await read(other, forgetful)).toEqual([{ accountId: other }]);
  const ids =
    'SELECT delivery_id AS id FROM webhook_attempts UNION SELECT id FROM webhook_deliveries';
  expect(await read(other, ids)).toEqual([{ id: `whd_${other}` }]);
});

test('an id of another account leads nowhere', async () => {
  const own = asAccount(pages, account);
  expect(await findPayment(own, `pay_${account}`)).toMatchObject({ accountId: account });
  expect(await findPayment(own, `pay_${other}`)).toBeNull();
  expect(await listHistory(own, `po_${account}`)).toHaveLength(1);
  expect(await listHistory(own, `po_${other}`)).toEqual([]);
  expect(await listAttempts(own, `whd_${account}`)).toHaveLength(1);
  expect(await listAttempts(own, `whd_${other}`)).toEqual([]);
});

test('who made a key is told to its account only', async () => {
  const maker = await makeUser(owner, 'merchant', 'owner', other);
  const id = `key_${other}`;
  await owner.query(
    `UPDATE api_keys SET made_by = ?, made_at = now(), scopes = '{payouts:write}' WHERE id = ?`,
    [maker.id, id],
  );
  await owner.query(`UPDATE accounts SET second_person_above = '{"USDT": "1"}' WHERE id = ?`, [
    other,
  ]);
  const told = `SELECT person_of_requester('${id}', '{owner}') AS maker,
                       key_awaits_second_person('${id}', '{owner}') AS waits`;
  expect(await read(other, told)).toEqual([{ maker: maker.id, waits: true }]);
  expect(await read(account, told)).toEqual([{ maker: null, waits: false }]);
});

test('secrets and changes are refused', async () => {
  for (const sql of [
    'SELECT secret_hash FROM api_keys',
    'SELECT secret_sealed FROM webhook_endpoints',
    'SELECT * FROM users',
    "UPDATE payouts SET status = 'completed'",
    'DELETE FROM webhook_endpoints',
  ]) {
    await expect(read(account, sql)).rejects.toThrow('permission denied');
  }
});

test('the next statement of the connection has its own rights again', async () => {
  const who = `SELECT current_user::text AS name, current_setting('app.account_id', true) AS account`;
  const [login] = await pages.query<{ name: string }>('SELECT session_user::text AS name');
  expect(await read(account, who)).toEqual([{ name: 'gateway_merchant', account }]);
  expect(await pages.query(who)).toEqual([{ ...login, account: '' }]);
  await expect(read(account, 'SELECT 1 / 0')).rejects.toThrow('division by zero');
  expect(await pages.query(who)).toEqual([{ ...login, account: '' }]);
});

test('everything that the services of the pages read, they read as this role', async () => {
  const login = { user: `merchant_${Date.now()}`, password: 'no-other-rights' };
  await withClient(database.ownerUrl, (client) =>
    client.query(
      `CREATE ROLE ${login.user} LOGIN PASSWORD '${login.password}' IN ROLE gateway_merchant`,
    ),
  );
  const url = new URL(database.ownerUrl);
  Object.assign(url, { username: login.user, password: login.password });
  const db = connect({ url: url.toString(), size: 2, applicationName: 'account-rows-test' });
  try {
    // Without the account, the login itself reads nothing.
    expect(await count(db, 'payouts')).toBe(0);
    // The parts that change something.
    const parts = { pepper: '', api: {}, webhookDeliveryWorkflows: null } as never;
    const services = createDashboardServices(Object.assign({ db }, parts));
    const mine = { accountId: account, mode: 'test' } as const;
    const list = { limit: 10, after: null, filters: {} };
    const { books } = services;
    expect(await services.balances(mine)).toHaveLength(1);
    expect(await services.attention(mine)).toMatchObject({ payoutsPaused: true });
    expect((await services.payments(mine, list)).items).toHaveLength(1);
    expect((await services.payouts(mine, list)).items).toHaveLength(1);
    expect((await services.transactions(mine, list)).items).toHaveLength(1);
    expect((await services.requests(mine, list)).items).toHaveLength(1);
    expect((await services.auditLog(account, { limit: 10 })).items).toHaveLength(1);
    expect(await services.payment(mine, `pay_${account}`)).toMatchObject({ events: [] });
    expect(await findTextOf(db, { ...mine, text: 'hash' })).toMatchObject([
      { id: `pay_${account}` },
    ]);
    const payout = await services.payout(mine, `po_${account}`);
    expect(payout.events[0]?.deliveries).toHaveLength(1);
    expect(await services.request(mine, `req_${account}`)).toMatchObject({ reused: null });
    expect(await listOwnKeys(db, mine)).toEqual([await findOwnKey(db, mine, `key_${account}`)]);
    expect(await listOwnEndpoints(db, mine)).toEqual([
      await findOwnEndpoint(db, mine, `we_${account}`),
    ]);
    expect(await listOwnDeliveries(db, mine, `we_${account}`, undefined, 10, null)).toEqual([
      await findOwnDelivery(db, mine, `whd_${account}`),
    ]);
    expect(await countOwnAttempts(db, mine, `we_${account}`)).toHaveLength(2);
    expect(await listOwnWarnings(db, mine)).toEqual([]);
    expect(await countOwnRecentAttempts(db, mine)).toHaveLength(1);
    expect(await readOwnDelivery(db, mine, `whd_${account}`)).toMatchObject({
      attempts: [{ number: 1 }],
      body: expect.any(Buffer),
    });
    const [{ currency, months } = { currency: '', months: [] }] = await books.months(mine);
    expect(await books.statement(mine, currency, months[0]!)).toMatchObject({
      closing: { available: '10.00000000' },
    });
    expect(await books.volumes(mine, 7)).toHaveLength(1);
  } finally {
    await db.destroy();
    await withClient(database.ownerUrl, (client) => client.query(`DROP ROLE ${login.user}`));
  }
});
