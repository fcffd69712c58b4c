/** PostgreSQL lets no API process make a key that has more rights than its maker (decisions/keys#keys-by-api). */
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { makeAccount } from '../../support/merchant/ledger';

let database: TestDatabase;
let owner: Db;
let api: Db;
let account: string;
let keys = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 2, applicationName: 'keys-by-api-test' });
  owner = open(database.ownerUrl);
  api = open(database.apiUrl);
  account = await makeAccount(owner);
});

afterAll(async () => {
  await Promise.all([owner.destroy(), api.destroy()]);
  await database.drop();
});

const KEY: Record<string, unknown> = {
  mode: 'test',
  scopes: '{balance:read}',
  allowlist: '{10.0.0.0/8}',
  requests_per_minute: 60,
  recipients_only: true,
  payout_currencies: '{USDT}',
  payout_limits: '{"USDT": {"per_payout": "5"}}',
  expires_at: '2090-01-01Z',
};

async function insert(db: Db, columns: Record<string, unknown>): Promise<string> {
  const id = `key_${(keys += 1)}`;
  const row = { ...KEY, ...{ id, account_id: account, name: id, display_prefix: 'sk_test_' } };
  const all = { ...row, last_four: 'abcd', secret_hash: Buffer.from(id), ...columns };
  await db.query(
    `INSERT INTO api_keys (${Object.keys(all).join()}) VALUES (${Object.keys(all)
      .map(() => '?')
      .join()})`,
    Object.values(all),
  );
  return id;
}

const maker = (columns: Record<string, unknown> = {}) =>
  insert(owner, { scopes: '{balance:read,payouts:write,api_keys:write}', ...columns });

test('a key within its maker is inserted', async () => {
  const id = await insert(api, { created_by_key: await maker() });
  await api.query(`UPDATE api_keys SET revoked_at = now() WHERE id = ?`, [id]);
  expect(
    await owner.query('SELECT FROM api_keys WHERE id = ? AND revoked_at IS NOT NULL', [id]),
  ).toHaveLength(1);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
  ['another scope', { scopes: '{events:read}' }],
  ['the scope to make keys', { scopes: '{api_keys:write}' }],
  ['another network', { allowlist: '{10.0.0.0/7}' }],
  ['every address', { allowlist: '{}' }],
  ['more requests', { requests_per_minute: 61 }],
  ['every destination', { recipients_only: false }],
  ['another currency', { payout_currencies: '{USDT,BTC}' }],
  ['every currency', { payout_currencies: '{}' }],
  ['a larger payout', { payout_limits: '{"USDT": {"per_payout": "5.00000001"}}' }],
  ['payouts without a maximum', { payout_limits: '{}' }],
  ['a longer life', { expires_at: '2090-01-02Z' }],
  ['an endless life', { expires_at: null }],
  ['the other mode', { mode: 'live' }],
  ['a maker that was revoked', {}, { revoked_at: '2026-01-01Z' }],
  ['a maker that has expired', { expires_at: '2026-01-01Z' }, { expires_at: '2026-01-01Z' }],
  ['a maker without the scope', {}, { scopes: '{balance:read}' }],
  ['live mode where it is not allowed', { mode: 'live' }, { mode: 'live' }],
  [
    'the amount of a day once more',
    { scopes: '{payouts:write}' },
    { payout_limits: '{"USDT": {"per_payout": "5", "per_day": "9"}}' },
  ],
])('%s is refused', async (_, columns, ofMaker = {}) => {
  const row = { ...columns, created_by_key: await maker(ofMaker) };
  await expect(insert(api, row)).rejects.toThrow('may not make this key');
});

test('a key of another account is no maker', async () => {
  const other = await makeAccount(owner);
  const row = { created_by_key: await maker({ account_id: other }) };
  await expect(insert(api, row)).rejects.toThrow('may not make this key');
});

test('the API makes no key without a maker, and changes no key that manages none and was made by people', async () => {
  await expect(insert(api, {})).rejects.toThrow('row-level security');
  const id = await insert(owner, {});
  await api.query(`UPDATE api_keys SET secret_hash = 'mine' WHERE id = ?`, [id]);
  await expect(
    api.query(`UPDATE api_keys SET scopes = '{payouts:write}' WHERE id = ?`, [id]),
  ).rejects.toThrow('permission denied');
  expect(await owner.query(`SELECT FROM api_keys WHERE secret_hash = 'mine'`)).toEqual([]);
});
