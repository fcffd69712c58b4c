/** API keys by API (decisions/keys#keys-by-api), mostly as somebody who has found a key: it never gets more rights. */
import type { Mode } from '../../../src/domain/mode';
import { SCOPES, type Scope } from '../../../src/domain/scopes';
import { createKey } from '../../support/merchant/merchant';
import { type ApiAnswer, MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import { type FundedMerchant, openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);
let merchant: FundedMerchant;

beforeAll(async () => {
  merchant = await openMerchant(gateway, { mode: 'test', funds: {} });
});

const as = (secret: string) => new MerchantClient(gateway.baseUrl, secret);
const post = (client: MerchantClient, body: object, key = randomKey()) =>
  client.create('/api_keys', body, key);
const refusal = ({ status, json }: ApiAnswer) => ({ status, ...json.error });
const READS: Scope[] = ['balance:read', 'payouts:read'];

async function made(client: MerchantClient, overrides: object = {}) {
  const answer = await post(client, { name: 'Reader', scopes: READS, ...overrides });
  expect(answer.json).toMatchObject({ data: { object: 'api_key' } });
  return answer.json.data;
}

/** A key with some rights, as a person would have made it. */
async function keyWith(set: string, scopes: readonly Scope[] = SCOPES, mode: Mode = 'test') {
  const { accountId } = merchant;
  const secret = await createKey(gateway.db, gateway.pepper, { accountId, mode, scopes });
  const end = secret.slice(-4);
  await gateway.db.query(
    `UPDATE api_keys SET ${set} WHERE account_id = ? AND last_four = ? AND scopes = ?::text[]`,
    [accountId, end, [...scopes]],
  );
  return as(secret);
}

test('a key makes, reads, lists, rolls and revokes a key that works, each in the audit log [endpoint POST /api_keys] [endpoint GET /api_keys] [endpoint GET /api_keys/{id}] [endpoint POST /api_keys/{id}/roll] [endpoint POST /api_keys/{id}/revoke]', async () => {
  const { client, accountId } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const { secret, ...key } = await made(client, {
    allowed_addresses: ['127.0.0.1', '10.0.0.0/8'],
    currencies: ['USDT'],
    payout_limits: { USDT: { per_payout: '5' } },
    expires_at: '2099-01-31',
  });
  expect(key).toMatchObject({
    mode: 'test',
    name: 'Reader',
    status: 'working',
    scopes: ['payouts:read', 'balance:read'],
    allowed_addresses: ['127.0.0.1/32', '10.0.0.0/8'],
    requests_per_minute: 120,
    recipients_only: false,
    currencies: ['USDT'],
    payout_limits: { USDT: { per_payout: '5.00000000' } },
    expires_at: '2099-01-31T23:59:59.999Z',
    created_by_key: expect.stringMatching(/^key_/),
  });
  expect((await as(secret).get('/balance')).status).toBe(200);
  expect((await as(secret).get('/events')).status).toBe(403);

  const path = `/api_keys/${key.id}`;
  const rolled = (await client.post(`${path}/roll`)).json.data;
  expect([(await as(secret).get('/balance')).status, rolled.name]).toEqual([401, 'Reader']);
  expect((await as(rolled.secret).get('/balance')).status).toBe(200);
  expect((await client.get('/api_keys')).json.data).toMatchObject([
    { id: key.id },
    { id: key.created_by_key, created_by_key: null },
  ]);

  const revoked = await client.post(`${path}/revoke`);
  expect(revoked.json.data).toMatchObject({ status: 'revoked' });
  expect((await client.post(`${path}/revoke`)).json).toEqual(revoked.json);
  expect((await client.get(path)).json).toEqual(revoked.json);
  expect((await as(rolled.secret).get('/balance')).status).toBe(401);
  expect(refusal(await client.post(`${path}/roll`))).toMatchObject({
    status: 409,
    details: { status: 'revoked' },
  });
  const audit = await gateway.db.query(
    `SELECT action, via, actor FROM audit_log WHERE account_id = ? AND object_id = ? ORDER BY id`,
    [accountId, key.id],
  );
  const by = { via: 'api', actor: key.created_by_key };
  expect(audit).toEqual(
    ['create', 'rotate', 'revoke'].map((verb) => ({ action: `api_key.${verb}`, ...by })),
  );
});

test('the secret is in the first answer alone: another key that repeats the request does not get it', async () => {
  const { client, accountId } = merchant;
  const key = randomKey();
  const body = { name: 'Once', scopes: READS };
  const first = await post(client, body, key);
  const weaker = await keyWith('requests_per_minute = 60');
  for (const other of [client, weaker]) {
    const replay = await post(other, body, key);
    expect(replay.json.data).toEqual({ ...first.json.data, secret: null });
  }
  const rolled = await client.post(`/api_keys/${first.json.data.id}/roll`);
  const secrets = [first.json.data.secret, rolled.json.data.secret] as string[];
  await waitFor('the log of the requests', async () => {
    const sql = `SELECT FROM request_log WHERE account_id = ? AND path LIKE '%/roll'`;
    return (await gateway.db.query(sql, [accountId])).length > 0;
  });
  for (const table of ['idempotency_keys', 'request_log', 'audit_log', 'api_keys']) {
    const rows = await gateway.db.query<{ row: string }>(
      `SELECT row_to_json(t)::text AS row FROM ${table} t WHERE account_id = ?`,
      [accountId],
    );
    const hex = (text: string) => Buffer.from(text).toString('hex');
    for (const text of secrets.flatMap((secret) => [secret, hex(secret)])) {
      expect(rows.filter(({ row }) => row.includes(text))).toEqual([]);
    }
  }
});

const WITHOUT_BALANCE = SCOPES.filter((scope) => scope !== 'balance:read');

test.each<[string, string, readonly Scope[], object, string]>([
  ['a scope', 'name = name', WITHOUT_BALANCE, {}, 'scopes'],
  ['the right to make keys', 'name = name', SCOPES, { scopes: ['api_keys:write'] }, 'scopes'],
  [
    'another address',
    `allowlist = '{127.0.0.1/32}'`,
    SCOPES,
    { allowed_addresses: ['127.0.0.0/8'] },
    'allowed_addresses',
  ],
  [
    'every address',
    `allowlist = '{127.0.0.1/32}'`,
    SCOPES,
    { allowed_addresses: [] },
    'allowed_addresses',
  ],
  [
    'more requests',
    'requests_per_minute = 100',
    SCOPES,
    { requests_per_minute: 101 },
    'requests_per_minute',
  ],
  [
    'a longer life',
    `expires_at = '2090-01-01Z'`,
    SCOPES,
    { expires_at: '2090-01-02' },
    'expires_at',
  ],
  [
    'every destination',
    'recipients_only = true',
    SCOPES,
    { recipients_only: false },
    'recipients_only',
  ],
  [
    'another currency',
    `payout_currencies = '{USDT}'`,
    SCOPES,
    { currencies: ['BTC'] },
    'currencies',
  ],
  ['every currency', `payout_currencies = '{USDT}'`, SCOPES, { currencies: [] }, 'currencies'],
  [
    'a larger payout',
    `payout_limits = '{"USDT": {"per_payout": "5.00000000"}}'`,
    SCOPES,
    { payout_limits: { USDT: { per_payout: '5.00000001' } } },
    'payout_limits',
  ],
  [
    'payouts without a maximum',
    `payout_limits = '{"USDT": {"per_payout": "5.00000000"}}'`,
    SCOPES,
    { payout_limits: { BTC: { per_payout: '1' } } },
    'payout_limits',
  ],
  [
    'the amount of a day once more',
    `payout_limits = '{"USDT": {"per_day": "5.00000000"}}'`,
    SCOPES,
    { scopes: ['payouts:write'] },
    'scopes',
  ],
  [
    'the refunds of a day once more',
    `payout_limits = '{"USDT": {"per_day": "5.00000000"}}'`,
    SCOPES,
    { scopes: ['payments:write'] },
    'scopes',
  ],
])('%s that the maker does not have is refused', async (_, set, scopes, body, field) => {
  const maker = await keyWith(set, scopes);
  expect(refusal(await post(maker, { name: 'More', scopes: READS, ...body }))).toMatchObject({
    status: 422,
    code: 'validation_failed',
    details: { fields: [{ field, rule: 'out_of_range' }] },
  });
});

test('what is left out is as the maker has it', async () => {
  const maker = await keyWith(
    `allowlist = '{127.0.0.0/8}', requests_per_minute = 90, expires_at = '2090-01-01Z',
     recipients_only = true, payout_currencies = '{USDT}',
     payout_limits = '{"USDT": {"per_payout": "5.00000000", "per_day": "9.00000000"}}'`,
  );
  expect(await made(maker)).toMatchObject({
    allowed_addresses: ['127.0.0.0/8'],
    requests_per_minute: 90,
    expires_at: '2090-01-01T00:00:00.000Z',
    recipients_only: true,
    currencies: ['USDT'],
    payout_limits: { USDT: { per_payout: '5.00000000', per_day: '9.00000000' } },
  });
});

test('a key neither rolls nor revokes a key that it has not made, nor makes one without the scope', async () => {
  const { client } = merchant;
  const other = await keyWith('name = name');
  const { id } = await made(other);
  const own = (await client.get('/api_keys')).json.data as { id: string; created_by_key: string }[];
  const foreign = [id, own.find((key) => key.id === id)!.created_by_key];
  for (const path of foreign.flatMap((one) => [`${one}/roll`, `${one}/revoke`])) {
    expect(refusal(await client.post(`/api_keys/${path}`))).toMatchObject({
      status: 403,
      code: 'key_change_not_allowed',
      details: { reason: 'not_made_by_this_key' },
    });
  }
  // Its maker made it weaker; people have widened it since.
  const narrow = await keyWith('recipients_only = true');
  const child = await made(narrow);
  await gateway.db.query('UPDATE api_keys SET recipients_only = false WHERE id = ?', [child.id]);
  expect(refusal(await narrow.post(`/api_keys/${child.id}/roll`))).toMatchObject({
    status: 422,
    details: { fields: [{ field: 'recipients_only' }] },
  });
  const without = await keyWith(
    'name = name',
    SCOPES.filter((scope) => scope !== 'api_keys:write'),
  );
  expect((await post(without, { name: 'x', scopes: READS })).status).toBe(403);
});

test('live keys are made and rolled by API only where an owner has allowed it; revoking is always possible', async () => {
  const { client, accountId } = await openMerchant(gateway, { mode: 'live', funds: {} });
  const [self] = (await client.get('/api_keys')).json.data;
  const refused = {
    status: 403,
    code: 'key_change_not_allowed',
    details: { reason: 'live_keys_by_people' },
  };
  expect(refusal(await post(client, { name: 'Live', scopes: READS }))).toMatchObject(refused);
  expect(refusal(await client.post(`/api_keys/${self.id}/roll`))).toMatchObject(refused);
  const allow = (allowed: boolean) =>
    gateway.db.query('UPDATE accounts SET live_keys_by_api = ? WHERE id = ?', [allowed, accountId]);
  await allow(true);
  const key = await made(client);
  expect(key.secret).toMatch(/^sk_live_/);
  await allow(false);
  expect((await client.post(`/api_keys/${key.id}/revoke`)).status).toBe(200);
  expect((await client.post(`/api_keys/${self.id}/revoke`)).status).toBe(200);
  expect((await client.get('/balance')).status).toBe(401);
});

test('whoever revokes the maker ends all of its keys, also those that are being made', async () => {
  const { accountId } = merchant;
  const maker = await keyWith('name = name');
  const { id: child, created_by_key: id, secret } = await made(maker);
  const making = Array.from({ length: 6 }, (_, i) => post(maker, { name: `${i}`, scopes: READS }));
  const revoked = maker.post(`/api_keys/${id}/revoke`);
  await Promise.all([...making, revoked]);
  expect((await revoked).status).toBe(200);
  expect((await as(secret).get('/balance')).status).toBe(401);
  const sql = `SELECT id FROM api_keys WHERE account_id = ? AND revoked_at IS NULL
                  AND (created_by_key = ? OR id = ?)`;
  expect(await gateway.db.query(sql, [accountId, id, id])).toEqual([]);
  const logged = `SELECT FROM audit_log WHERE object_id = ? AND action = 'api_key.revoke'`;
  expect(await gateway.db.query(logged, [child])).toHaveLength(1);
});
