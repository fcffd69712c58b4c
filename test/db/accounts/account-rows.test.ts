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
import { makeAccount } from '../../support/merchant/ledger';
import { makeOneOfEach } from '../one-of-each';

/** What a merchant's pages read. The role reads nothing else. */
const TABLES = [
  'account_logos',
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

type Ids = Awaited<ReturnType<typeof makeOneOfEach>>;

let database: TestDatabase;
let owner: Db;
/** With one connection, so that each statement finds what the one before it left. */
let pages: Db;
let account: string;
let other: string;
/** One row or more in every table, of each of the two accounts. */
let own: Ids;
let foreign: Ids;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 1, applicationName: 'account-rows-test' });
  owner = open(database.ownerUrl);
  pages = open(database.dashboardUrl);
  [account, other] = [await makeAccount(owner), await makeAccount(owner)];
  own = await makeOneOfEach(owner, account, 'test');
  foreign = await makeOneOfEach(owner, other, 'test');
});

afterAll(async () => {
  await Promise.all([owner.destroy(), pages.destroy()]);
  await database.drop();
});

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
    { proname: 'own_payments_of_customer', prosecdef: true },
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
  expect(await read(other, ids)).toEqual([{ id: foreign.webhookDelivery }]);
});

test('an id of another account leads nowhere', async () => {
  const reader = asAccount(pages, account);
  expect(await findPayment(reader, own.payment)).toMatchObject({ accountId: account });
  expect(await findPayment(reader, foreign.payment)).toBeNull();
  expect(await listHistory(reader, own.payout)).toHaveLength(1);
  expect(await listHistory(reader, foreign.payout)).toEqual([]);
  expect(await listAttempts(reader, own.webhookDelivery)).toHaveLength(1);
  expect(await listAttempts(reader, foreign.webhookDelivery)).toEqual([]);
});

test('who made a key is told to its account only', async () => {
  const maker = await makeUser(owner, 'merchant', 'owner', other);
  const id = foreign.apiKey;
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

describe('everything that the services of the pages read, they read as this role:', () => {
  const login = { user: `merchant_${Date.now()}`, password: 'no-other-rights' };
  let db: Db;
  let services: ReturnType<typeof createDashboardServices>;
  let mine: { accountId: string; mode: 'test' };

  beforeAll(async () => {
    await withClient(database.ownerUrl, (client) =>
      client.query(
        `CREATE ROLE ${login.user} LOGIN PASSWORD '${login.password}' IN ROLE gateway_merchant`,
      ),
    );
    const url = new URL(database.ownerUrl);
    Object.assign(url, { username: login.user, password: login.password });
    db = connect({ url: url.toString(), size: 2, applicationName: 'account-rows-test' });
    // The parts that change something.
    const parts = { pepper: '', api: {}, webhookDeliveryWorkflows: null } as never;
    services = createDashboardServices(Object.assign({ db }, parts));
    mine = { accountId: account, mode: 'test' };
  });
  afterAll(async () => {
    await db.destroy();
    await withClient(database.ownerUrl, (client) => client.query(`DROP ROLE ${login.user}`));
  });

  const LIST = { limit: 10, after: null, filters: {} };

  test('nothing, without the account', async () => {
    expect(await count(db, 'payouts')).toBe(0);
  });

  test.each(['payments', 'payouts', 'transactions', 'requests'] as const)('%s', async (list) => {
    expect((await services[list](mine, LIST)).items).toHaveLength(1);
  });

  test('the start page and the audit log', async () => {
    expect(await services.balances(mine)).toHaveLength(1);
    expect(await services.attention(mine)).toMatchObject({ payoutsPaused: true });
    expect((await services.auditLog(account, { limit: 10 })).items).toHaveLength(1);
  });

  test('one payment, one payout, one request, and the search', async () => {
    expect(await services.payment(mine, own.payment)).toMatchObject({ events: [{}] });
    const payout = await services.payout(mine, own.payout);
    expect(payout.events[0]?.deliveries).toHaveLength(1);
    expect(await services.request(mine, own.request)).toMatchObject({ reused: null });
    const found = await findTextOf(db, { ...mine, text: `hash of ${own.payment}` });
    expect(found).toMatchObject([{ id: own.payment }]);
  });

  test('keys and webhooks', async () => {
    const { webhookEndpoint: endpoint, webhookDelivery: delivery } = own;
    expect(await listOwnKeys(db, mine)).toEqual([await findOwnKey(db, mine, own.apiKey)]);
    expect(await listOwnEndpoints(db, mine)).toEqual([await findOwnEndpoint(db, mine, endpoint)]);
    expect(await listOwnDeliveries(db, mine, endpoint, undefined, 10, null)).toEqual([
      await findOwnDelivery(db, mine, delivery),
    ]);
    expect(await countOwnAttempts(db, mine, endpoint)).toHaveLength(2);
    expect(await listOwnWarnings(db, mine)).toEqual([]);
    expect(await countOwnRecentAttempts(db, mine)).toHaveLength(1);
    expect(await readOwnDelivery(db, mine, delivery)).toMatchObject({
      attempts: [{ number: 1 }],
      body: expect.any(Buffer),
    });
  });

  test('the books', async () => {
    const { books } = services;
    const [{ currency, months } = { currency: '', months: [] }] = await books.months(mine);
    expect(await books.statement(mine, currency, months[0]!)).toMatchObject({
      closing: { available: '10.00000000' },
    });
    expect(await books.volumes(mine, 7)).toHaveLength(1);
  });
});
