import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import type { Db } from '../../../src/db/transaction';
import { findDemoMerchant } from '../../../src/db/accounts/accounts';
import { seedDevelopment } from '../../../src/dev/prepare-database';
import { parseApiKey } from '../../../src/domain/api-key';
import { SCOPES } from '../../../src/domain/scopes';
import { hashApiKey } from '../../../src/platform/lib/api-key-secret';
import { compose, createTestDatabase, type TestDatabase } from '../../support/servers/database';

const PEPPER = 'a pepper for tests';

let database: TestDatabase;
let app: Db;

beforeEach(async () => {
  database = await createTestDatabase();
  app = connect({ url: database.appUrl, size: 1, applicationName: 'seed-test' });
});

afterEach(async () => {
  await app.destroy();
  await database.drop();
});

test('the demo merchant is verified and its keys work, each in its mode, with every scope', async () => {
  const { test_key, live_key } = await seed();
  const [account] = await app.query<{ id: string; verifiedAt: Date }>(
    compose('accounts').select('id', 'name', 'status', 'verified_at'),
  );
  expect(account).toMatchObject({ name: 'Demo merchant', status: 'active' });
  expect(account!.verifiedAt).toBeInstanceOf(Date);
  expect(await findDemoMerchant(app)).toBe(account!.id);
  for (const [mode, secret] of [
    ['test', test_key],
    ['live', live_key],
  ] as const) {
    expect(parseApiKey(secret)).toEqual({ mode });
    expect(await authenticate(secret)).toEqual([
      expect.objectContaining({
        accountId: account!.id,
        mode,
        scopes: SCOPES,
        requestsPerMinute: 1200,
        accountStatus: 'active',
        addressAllowed: true,
      }),
    ]);
  }
});

test('no secret is in the database, only what tells keys apart', async () => {
  const { test_key, live_key } = await seed();
  const { rows: keys } = await withClient(database.ownerUrl, (client) =>
    client.query('SELECT * FROM api_keys'),
  );
  const everything = JSON.stringify(keys);
  for (const secret of [test_key, live_key]) {
    expect(everything).not.toContain(secret);
    expect(everything).toContain(`"last_four":"${secret.slice(-4)}"`);
  }
});

test('logins and the webhook secret are random and complete', async () => {
  const [first, second] = [await seed(), await seed()];
  expect(first.merchant.password).toMatch(/^[\w-]{20}$/);
  expect(first.operator.email).toContain('@');
  expect(first.test_webhook_secret).toMatch(/^whsec_/);
  expect(Buffer.from(first.test_webhook_secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  const random = [first, second].flatMap((seeded) => [
    seeded.merchant.password,
    seeded.operator.password,
    seeded.test_webhook_secret,
  ]);
  expect(new Set(random).size).toBe(random.length);
});

test('seeding again keeps the merchant and other keys, and the earlier demo keys are dead', async () => {
  const first = await seed();
  const account = await findDemoMerchant(app);
  await app.query(
    compose('api_keys').insert({
      id: 'key_own',
      account_id: account,
      mode: 'test',
      name: 'My own',
      secret_hash: Buffer.from('own'),
      display_prefix: 'own',
      last_four: 'own',
      scopes: [],
    }),
  );
  const second = await seed();

  expect(await app.query(compose('accounts').select('id'))).toEqual([{ id: account }]);
  for (const dead of [first.test_key, first.live_key]) expect(await authenticate(dead)).toEqual([]);
  for (const alive of [second.test_key, second.live_key]) {
    expect(await authenticate(alive)).toHaveLength(1);
  }
  const open = await app.query<{ name: string }>(
    compose('api_keys').whereNull('revoked_at').orderBy('name').select('name'),
  );
  expect(open.map((key) => key.name)).toEqual(['Demo live key', 'Demo test key', 'My own']);
});

test('without a demo merchant there is nothing to find', async () => {
  expect(await findDemoMerchant(app)).toBeNull();
});

function seed() {
  return seedDevelopment({ ownerUrl: database.ownerUrl, pepper: PEPPER });
}

function authenticate(secret: string): Promise<unknown[]> {
  const sql = "SELECT * FROM authenticate_api_key(?, NULL, NULL, '{}', '203.0.113.7')";
  return app.query(sql, [hashApiKey(secret, PEPPER)]);
}
