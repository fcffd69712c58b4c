/**
 * What all API processes have to agree on, shown with two of them on one database: keys, accounts,
 * rates and idempotency keys (test/support/merchant/contract-rows.ts has the rows of the specification).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { SCOPES, type Scope } from '../../../src/domain/scopes';
import { ENDPOINTS, isBuilt } from '../../support/merchant/contract-rows';
import { useSharedGateway, startSecondApi } from '../../support/servers/gateway';
import { createKey } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { countPayouts, type MerchantWish, openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';

const gateway = started(useSharedGateway);
const second = started(() => startSecondApi(gateway));

/** One merchant with a client at each process. */
async function openAtBoth(wish: MerchantWish = {}) {
  const { accountId, client } = await openMerchant(gateway, wish);
  const there = new MerchantClient(second.baseUrl, client.apiKey);
  return { accountId, here: client, there, both: [client, there] };
}

const change = (sql: string, accountId: string) => gateway.db.query(sql, [accountId]);

async function statusesOf(clients: MerchantClient[]): Promise<unknown[]> {
  const answers = await Promise.all(clients.map((client) => client.get('/balance')));
  return answers.map(({ status, json }) => [status, json.error?.code]);
}

const AT_BOTH = (status: number, code?: string) => [
  [status, code],
  [status, code],
];

test.each([
  { end: 'is revoked', set: 'revoked_at = now()' },
  { end: 'expires', set: 'expires_at = now()' },
])(
  'a key that $end fails at once at every process [error 401 invalid_api_key]',
  async ({ set }) => {
    const { accountId, both } = await openAtBoth();
    expect(await statusesOf(both)).toEqual(AT_BOTH(200));
    await change(`UPDATE api_keys SET ${set} WHERE account_id = ? AND mode = 'live'`, accountId);
    expect(await statusesOf(both)).toEqual(AT_BOTH(401, 'invalid_api_key'));
  },
);

test('a suspended account is refused at once at every process, and let in again [error 403 account_suspended]', async () => {
  const { accountId, both } = await openAtBoth();
  expect(await statusesOf(both)).toEqual(AT_BOTH(200));
  await change(`UPDATE accounts SET status = 'suspended' WHERE id = ?`, accountId);
  expect(await statusesOf(both)).toEqual(AT_BOTH(403, 'account_suspended'));
  await change(`UPDATE accounts SET status = 'active' WHERE id = ?`, accountId);
  expect(await statusesOf(both)).toEqual(AT_BOTH(200));
});

test('an address that leaves the allowlist is refused at once at every process [error 403 ip_not_allowed]', async () => {
  const { accountId, both } = await openAtBoth();
  const allow = (network: string) =>
    change(`UPDATE api_keys SET allowlist = '{${network}}' WHERE account_id = ?`, accountId);
  await allow('127.0.0.0/8');
  expect(await statusesOf(both)).toEqual(AT_BOTH(200));
  await allow('192.0.2.0/24');
  expect(await statusesOf(both)).toEqual(AT_BOTH(403, 'ip_not_allowed'));
});

/** The window is the clock's minute: a test that would cross its end waits for the next. */
async function withinOneMinute(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 15_000) await wait(leftMs + 50);
}

test('a key has 120 requests a minute, over all processes, and never more than 1200 [limit request rate]', async () => {
  const { accountId, both } = await openAtBoth();
  const setRate = (value: string, id = accountId) =>
    change(`UPDATE api_keys SET requests_per_minute = ${value} WHERE account_id = ?`, id);
  await setRate('DEFAULT');
  await withinOneMinute();
  const sent = await Promise.all(
    Array.from({ length: 130 }, (_, index) => both[index % 2]!.get('/balance')),
  );
  expect(new Set(sent.map(({ headers }) => headers.get('ratelimit-limit')))).toEqual(
    new Set(['120']),
  );
  expect(sent.filter(({ status }) => status === 200)).toHaveLength(120);
  const refused = sent.filter(({ status }) => status === 429);
  expect(refused.map(({ json }) => json.error.code)).toEqual(Array(10).fill('rate_limited'));
  // A process that has refused a key remembers it for the rest of the minute, with its limit.
  const other = await openAtBoth();
  await setRate('1200', other.accountId);
  expect((await other.both[0]!.get('/balance')).headers.get('ratelimit-limit')).toBe('1200');
  await expect(setRate('1201')).rejects.toThrow(/check/);
});

test('a key with another body is refused by every process [idempotency same key, different body] [error 422 idempotency_key_reused]', async () => {
  const { accountId, here, both } = await openAtBoth();
  const body = buildPayout();
  expect((await here.createPayout(body, 'key-1')).status).toBe(201);
  for (const client of both) {
    const answer = await client.createPayout({ ...body, amount: '11' }, 'key-1');
    expect([answer.status, answer.json.error?.code]).toEqual([422, 'idempotency_key_reused']);
  }
  expect(await countPayouts(gateway, accountId)).toBe(1);
});

test('a key whose request was refused takes another request at any process [idempotency first request failed]', async () => {
  const { accountId, here, there } = await openAtBoth({ funds: { USDT: '100' } });
  const poor = await here.createPayout(buildPayout({ amount: '1000' }), 'key-1');
  const pause = `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'x')`;
  await change(pause, accountId);
  const paused = await there.createPayout(buildPayout(), 'key-1');
  await change('DELETE FROM payout_pauses WHERE target = ?', accountId);
  expect([poor.status, paused.status]).toEqual([422, 503]);
  const made = await here.createPayout(buildPayout(), 'key-1');
  expect([made.status, made.headers.get('idempotent-replayed')]).toEqual([201, null]);
});

test('a key is kept for 24 hours at every process, then starts a new request [idempotency key reused after 24 hours] [limit idempotency storage]', async () => {
  const { accountId, here, there } = await openAtBoth();
  const setBack = (age: string) =>
    change(
      `UPDATE idempotency_keys SET completed_at = now() - interval '${age}' WHERE account_id = ?`,
      accountId,
    );
  const body = buildPayout();
  const first = await here.createPayout(body, 'key-1');
  await setBack('23 hours 59 minutes');
  const replay = await there.createPayout(body, 'key-1');
  expect([replay.text, replay.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  await setBack('24 hours 1 second');
  const fresh = await there.createPayout(buildPayout(), 'key-1');
  expect([fresh.status, fresh.headers.get('idempotent-replayed')]).toEqual([201, null]);
  expect(fresh.json.data.id).not.toBe(first.json.data.id);
});

test.each(ENDPOINTS.filter(isBuilt).filter(({ scope }) => scope !== null))(
  '$method $path asks for $scope alone [scope payouts:write] [scope payouts:read] [scope balance:read] [error 403 insufficient_scope]',
  async ({ method, path, scope }) => {
    const { accountId } = await openMerchant(gateway);
    const ask = async (scopes: readonly Scope[]) => {
      const key = { accountId, mode: 'live', scopes } as const;
      const secret = await createKey(gateway.db, gateway.pepper, key);
      const client = new MerchantClient(gateway.baseUrl, secret);
      const real = path.replace('{id}', 'po_1');
      if (method === 'GET') return client.get(real);
      if (method === 'DELETE') return client.delete(real);
      if (method === 'PATCH') return client.patch(real, { name: 'x' });
      return client.create(real, buildPayout(), 'key-1');
    };
    const refused = await ask(SCOPES.filter((other) => other !== scope));
    expect([refused.status, refused.json.error?.code]).toEqual([403, 'insufficient_scope']);
    expect(refused.json.error.details).toEqual({ required_scope: scope });
    expect((await ask([scope as Scope])).status).not.toBe(403);
  },
);
