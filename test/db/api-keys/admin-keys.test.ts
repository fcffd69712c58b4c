/** Keys made, rotated and ended by the admin command, as the HTTP interface sees them. */
import { readPayoutFacts } from '../../../src/db/payouts/payout-facts';
import { amount } from '../../../src/domain/money';
import { SCOPES } from '../../../src/domain/scopes';
import { createKey, KEYS_MAX } from '../../../src/features/api-keys/api-keys';
import { Admin, auditRows, withOptions } from '../admin-harness';
import { bearer, errorOf, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let admin: Admin;
let account: string;

beforeAll(async () => {
  admin = new Admin(harness.database.adminUrl);
});

beforeEach(async () => {
  account = await harness.createAccount();
});

const create = (...options: string[]) =>
  admin.json(
    'keys',
    'create',
    '--account',
    account,
    '--mode',
    'test',
    '--scopes',
    'all',
    ...options,
  );

const getBalance = (secret: string): Promise<Response> =>
  fetch(`${gateway.url}/api/v1/balance`, { headers: bearer(secret) });

test('a new key works at once, with its settings, and its secret is nowhere else', async () => {
  const key = await create(
    ...['--allow', '127.0.0.1,10.0.0.0/8,2001:DB8::/32', '--rate', '7'],
    ...['--expires', '2999-01-01', '--name', 'Shop backend', '--reason', 'asked by mail'],
  );
  const response = await getBalance(key.secret);
  expect(response.status).toBe(200);
  expect(response.headers.get('RateLimit-Limit')).toBe('7');
  const { secret, ...settings } = key;
  expect(settings).toMatchObject({
    account_id: account,
    mode: 'test',
    name: 'Shop backend',
    status: 'working',
    scopes: SCOPES,
    allowed_addresses: ['127.0.0.1/32', '10.0.0.0/8', '2001:db8::/32'],
    requests_per_minute: 7,
    expires_at: '2999-01-01T00:00:00.000Z',
  });
  const listed = await admin.json('keys', 'list', '--account', account);
  expect(listed.data).toEqual([
    { ...settings, last_used_at: expect.any(String), last_used_address: '127.0.0.1' },
  ]);
  const [audit] = await auditRows(harness.owner, key.id);
  expect(audit).toMatchObject({
    action: 'api_key.create',
    object: 'api_key',
    accountId: account,
    before: null,
    after: settings,
    reason: 'asked by mail',
  });
});

test('scopes are those that were named, each once, in one order', async () => {
  const key = await admin.json(
    ...['keys', 'create', '--account', account, '--mode', 'test'],
    ...['--scopes', 'payouts:read, balance:read,payouts:read'],
  );
  expect(key.scopes).toEqual(['payouts:read', 'balance:read']);
});

test.each<[string, string[], RegExp]>([
  [
    'a scope that does not exist',
    ['--scopes', 'payouts:admin'],
    /^error: --scopes: "payouts:admin".*all/,
  ],
  ['an empty scope', ['--scopes', 'payouts:read,'], /^error: --scopes: "" does not exist/],
  ['host bits', ['--allow', '10.1.2.3/8'], /host bits set\. Use 10\.0\.0\.0\/8.*or 10\.1\.2\.3 /],
  ['host bits of IPv6', ['--allow', '2001:db8::1/32'], /host bits set\. Use 2001:db8::\/32/],
  ['a name for an address', ['--allow', 'example.com'], /"example.com" is not an IP address/],
  ['half an address', ['--allow', '10.0.0/8'], /"10.0.0\/8" is not an IP address/],
  ['an empty entry', ['--allow', '10.0.0.0/8,'], /"" is not an IP address/],
  ['a prefix too long', ['--allow', '10.0.0.0/33'], /IPv4 prefixes are 0 to 32/],
  ['a prefix of IPv6 too long', ['--allow', '2001:db8::/129'], /IPv6 prefixes are 0 to 128/],
  ['a mapped address', ['--allow', '::ffff:10.0.0.1'], /Use the IPv4 address/],
  ['a zone', ['--allow', 'fe80::1%eth0'], /is not an IP address/],
  ['a rate of nothing', ['--rate', '0'], /'--rate <N>' argument '0' .* 1 to 1200/],
  ['too high a rate', ['--rate', '1201'], /'--rate <N>' argument '1201' .* 1 to 1200/],
  ['a rate in words', ['--rate', 'many'], /'--rate <N>' argument 'many'/],
  ['an expiry in the past', ['--expires', '2020-01-01'], /--expires: .* is in the past/],
  [
    'an expiry that is no time',
    ['--expires', '2027-02-30'],
    /'--expires <TIME>' argument '2027-02-30' is invalid/,
  ],
  [
    'a mode that does not exist',
    ['--mode', 'prod'],
    /'--mode <MODE>' argument 'prod' .* test, live/,
  ],
  ['a name of two lines', ['--name', 'a\nb'], /--name: .*one line/],
])('%s is refused, and nothing is made', async (_, wrong, sentence) => {
  const right = ['keys', 'create', '--account', account, '--mode', 'test', '--scopes', 'all'];
  expect(await admin.refusal(2, ...withOptions(right, wrong))).toMatch(sentence);
  expect((await admin.json('keys', 'list', '--account', account)).data).toEqual([]);
  expect(await auditRows(harness.owner, account)).toEqual([]);
});

test('an account has at most fifty keys that work in a mode, also when two are made at once', async () => {
  const [first] = await Promise.all(
    Array.from({ length: KEYS_MAX - 1 }, () => harness.createKey({ accountId: account })),
  );
  await harness.createKey({ accountId: account, mode: 'live' });
  await harness.createKey({ accountId: account, expiresIn: '-1 day' });
  const by = { actor: 'test', reason: null };
  const more = () =>
    createKey.make(
      harness.owner,
      by,
      { accountId: account, mode: 'test', pepper: 'a pepper of 32 characters and more' },
      {
        name: 'One more',
        scopes: [...SCOPES],
        allow: [],
        currencies: [],
        payoutMax: [],
        dailyMax: [],
      },
    );
  const made = await Promise.allSettled(Array.from({ length: 4 }, more));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refused = ['keys', 'create', '--account', account, '--mode', 'test', '--scopes', 'all'];
  expect(await admin.refusal(1, ...refused)).toContain('the maximum of 50 keys in test mode');
  await admin.json('keys', 'revoke', first!.id);
  await create();
});

test('a live key needs a verified account', async () => {
  const live = ['keys', 'create', '--account', account, '--mode', 'live', '--scopes', 'all'];
  expect(await admin.refusal(1, ...live)).toContain('The account is not verified');
  await admin.json('accounts', 'verify', account);
  const { secret } = await admin.json(...live);
  expect(await (await getBalance(secret)).json()).toMatchObject({ mode: 'live' });
});

test('rotating gives a new secret with the same settings, and the old one is dead at once', async () => {
  const { secret: old, ...before } = await create('--rate', '9', '--allow', '127.0.0.1');
  expect((await getBalance(old)).status).toBe(200);
  const { secret, ...after } = await admin.json('keys', 'rotate', before.id);
  const refused = await getBalance(old);
  expect(refused.status).toBe(401);
  expect(await errorOf(refused)).toMatchObject({ code: 'invalid_api_key' });
  expect((await getBalance(secret)).status).toBe(200);
  const { display, last_used_at, last_used_address, ...settings } = after;
  expect(before).toMatchObject(settings);
  expect(display).not.toBe(before.display);
});

test('a rotated key is as young as its secret: the review rule for young keys sees it', async () => {
  const { id, accountId } = await harness.createKey();
  const sql = "UPDATE api_keys SET created_at = now() - interval '100 days' WHERE id = ?";
  await harness.owner.query(sql, [id]);
  const ageHours = async () => {
    const { now, apiKeySecretSince } = await readPayoutFacts(harness.db, {
      ...{ accountId, mode: 'test', apiKeyId: id, provider: 'onchain_provider', network: 'tron' },
      request: {
        ...{ amount: amount('1'), currency: 'USDT', reference: 'r1', network: 'tron' },
        ...{ provider: null, description: null, metadata: {} },
        destination: { type: 'crypto_address', value: 'x', memo: null },
      },
    });
    return (now.getTime() - apiKeySecretSince.getTime()) / 3_600_000;
  };
  expect(await ageHours()).toBeGreaterThan(2_000);
  await admin.json('keys', 'rotate', id);
  expect(await ageHours()).toBeLessThan(1);
});

test('two rotations at once leave one secret that works, and two audit rows', async () => {
  const { id, secret: old } = await create();
  const rotated = await Promise.all([1, 2, 3].map(() => admin.json('keys', 'rotate', id)));
  const answers = await Promise.all(rotated.map(({ secret }) => getBalance(secret)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  expect((await getBalance(old)).status).toBe(401);
  const rotations = (await auditRows(harness.owner, id)).slice(1);
  // Each begins where the one before ended.
  expect(rotations.map(({ before }) => before?.['display'])).toEqual([
    (await auditRows(harness.owner, id))[0]?.after?.['display'],
    ...rotations.slice(0, -1).map(({ after }) => after?.['display']),
  ]);
});

test('a revoked key is refused on the next request, and stays so', async () => {
  const { id, secret } = await create();
  expect((await getBalance(secret)).status).toBe(200);
  const revoked = await admin.json('keys', 'revoke', '--id', id, '--reason', 'leaked');
  expect(revoked).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) });
  expect((await getBalance(secret)).status).toBe(401);
  expect(await admin.refusal(1, 'keys', 'revoke', id)).toContain('was revoked at');
  expect(await admin.refusal(1, 'keys', 'rotate', id)).toContain('Create a new key');
  expect(await auditRows(harness.owner, id)).toMatchObject([
    { action: 'api_key.create' },
    { action: 'api_key.revoke', before: { status: 'working' }, reason: 'leaked' },
  ]);
});

test('a key that expires is refused from then on, and is not rotated', async () => {
  const soon = new Date(Date.now() + 3_600_000);
  const { id, secret } = await create('--expires', soon.toISOString());
  expect((await getBalance(secret)).status).toBe(200);
  const sql = `UPDATE api_keys SET expires_at = now() - interval '1 millisecond' WHERE id = ?`;
  await harness.owner.query(sql, [id]);
  expect((await getBalance(secret)).status).toBe(401);
  expect(await admin.refusal(1, 'keys', 'rotate', id)).toContain('has expired');
  const [listed] = (await admin.json('keys', 'list', '--account', account)).data;
  expect(listed).toMatchObject({ id, status: 'expired' });
});

test('a key that does not exist is said so; the id is needed', async () => {
  expect(await admin.refusal(1, 'keys', 'revoke', 'key_x')).toContain('key_x does not exist');
  expect(await admin.refusal(2, 'keys', 'revoke')).toMatch(
    /^error: The id is missing: .* --id\. `keys list`/,
  );
  expect(await admin.refusal(2, 'keys', 'revoke', 'key_x', '--id', 'key_y')).toContain('twice');
});

test('for a person the secret stands on a line of its own', async () => {
  const { stdout } = await admin.run(
    ...['keys', 'create', '--account', account, '--mode', 'test', '--scopes', 'all'],
  );
  expect(stdout).toMatch(/\nsk_test_[0-9A-Za-z]{38}\nThe secret is shown only once/);
});

test('no secret and no hash is in the audit log', async () => {
  const { id, secret } = await create();
  const { secret: second } = await admin.json('keys', 'rotate', id);
  await admin.json('keys', 'revoke', id);
  const log = JSON.stringify(await auditRows(harness.owner));
  const hashes = await harness.owner.query<{ hex: string; base64: string }>(
    `SELECT encode(secret_hash, 'hex') AS hex, encode(secret_hash, 'base64') AS base64
       FROM api_keys`,
  );
  for (const text of [secret, second, ...hashes.flatMap(({ hex, base64 }) => [hex, base64])]) {
    expect(log).not.toContain(text);
  }
  expect(log).not.toContain('hash');
});
