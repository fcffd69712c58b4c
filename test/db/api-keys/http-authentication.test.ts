import { SCOPES } from '../../../src/domain/scopes';
import { post } from '../../../src/db/ledger/ledger';
import { adjustmentPosting } from '../../../src/domain/ledger';
import type { Mode } from '../../../src/domain/mode';
import { amount } from '../../../src/domain/money';
import { makeApiKey } from '../../../src/platform/lib/api-key-secret';
import { newId } from '../../../src/platform/lib/new-id';
import { type Gateway, bearer, errorOf, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());

function getBalance(headers: Record<string, string>, from = gateway): Promise<Response> {
  return fetch(`${from.url}/api/v1/balance`, { headers });
}

test('requests that arrive together each get the answer of their own key', async () => {
  const [used, other, revoked, elsewhere] = await Promise.all([
    harness.createKey(),
    harness.createKey(),
    harness.createKey(),
    harness.createKey({ allowlist: ['192.0.2.0/24'] }),
  ]);
  await harness.owner.query('UPDATE api_keys SET revoked_at = now() WHERE id = ?', [revoked.id]);
  const kinds = [
    { secret: used.secret, status: 200 },
    { secret: makeApiKey('test').secret, status: 401 },
    { secret: other.secret, status: 200 },
    { secret: revoked.secret, status: 401 },
    { secret: elsewhere.secret, status: 403 },
  ];
  const sent = Array.from({ length: 100 }, (_, n) => kinds[n % kinds.length]!);
  const answers = await Promise.all(
    sent.map(async ({ secret, status }) => {
      const response = await getBalance(bearer(secret));
      await response.arrayBuffer();
      expect(response.status).toBe(status);
      return { secret, remaining: Number(response.headers.get('RateLimit-Remaining')) };
    }),
  );
  for (const { secret } of [used, other]) {
    const counted = answers.filter((answer) => answer.secret === secret);
    expect(new Set(counted.map(({ remaining }) => remaining)).size).toBe(20);
  }
});

describe('a request with a good key', () => {
  it.each(['test', 'live'] as const)('is answered in the mode of a %s key', async (mode) => {
    const { secret } = await harness.createKey({ mode });
    const response = await getBalance(bearer(secret));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ object: 'balance', mode, balances: [] });
    expect(response.headers.get('Cache-Control')).toBe('no-store');
  });

  it('reads the balances of its own account', async () => {
    const key = await harness.createKey();
    const fund = (mode: Mode, text: string) =>
      harness.db.transaction((tx) =>
        post(
          tx,
          { accountId: key.accountId, mode, currency: 'USDT' },
          adjustmentPosting({
            id: newId('adjustment'),
            direction: 'in',
            amount: amount(text),
            reason: 'test funds',
          }),
        ),
      );
    await fund('test', '12.5');
    await fund('live', '7');
    expect(await (await getBalance(bearer(key.secret))).json()).toEqual({
      object: 'balance',
      mode: 'test',
      balances: [
        {
          currency: 'USDT',
          available: '12.50000000',
          reserved: '0.00000000',
          pending: '0.00000000',
        },
      ],
    });
  });

  it('may write the scheme in small letters', async () => {
    const { secret } = await harness.createKey();
    expect((await getBalance({ Authorization: `bearer ${secret}` })).status).toBe(200);
  });

  it('leaves its time and address on the key, and writes them at most once a minute', async () => {
    const { id, secret } = await harness.createKey();
    const lastUse = () =>
      harness.owner.query<{ lastUsedAt: Date; lastUsedAddress: string }>(
        'SELECT last_used_at, last_used_address FROM api_keys WHERE id = ?',
        [id],
      );
    await getBalance(bearer(secret));
    const first = await lastUse();
    expect(first).toEqual([{ lastUsedAt: expect.any(Date), lastUsedAddress: '127.0.0.1' }]);
    await getBalance(bearer(secret));
    expect(await lastUse()).toEqual(first);
    const sql = "UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = ?";
    await harness.owner.query(sql, [id]);
    await getBalance(bearer(secret));
    const [{ lastUsedAt } = { lastUsedAt: new Date(0) }] = await lastUse();
    expect(lastUsedAt.getTime()).toBeGreaterThanOrEqual(first[0]!.lastUsedAt.getTime());
  });
});

describe('a request without a usable key', () => {
  const typo = (secret: string) => secret.slice(0, -1) + (secret.endsWith('a') ? 'b' : 'a');
  it.each<[string, string, (secret: string) => Record<string, string>]>([
    ['no header', 'authentication_required', () => ({})],
    ['another scheme', 'authentication_required', (key) => ({ Authorization: `Basic ${key}` })],
    ['the key alone', 'authentication_required', (key) => ({ Authorization: key })],
    ['no key after the scheme', 'authentication_required', () => ({ Authorization: 'Bearer ' })],
    ['a mistyped key', 'invalid_api_key', (key) => bearer(typo(key))],
    ['a key of somebody else', 'invalid_api_key', () => bearer(makeApiKey('test').secret)],
    ['two keys', 'invalid_api_key', (key) => bearer(`${key} ${key}`)],
    ['rubbish', 'invalid_api_key', () => bearer("' OR 1=1 --")],
    ['a very long key', 'invalid_api_key', () => bearer('x'.repeat(10_000))],
  ])(
    'is refused: %s [error 401 authentication_required] [error 401 invalid_api_key]',
    async (_, code, headers) => {
      const { secret } = await harness.createKey();
      const response = await getBalance(headers(secret));
      expect(response.status).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
      expect(await errorOf(response)).toMatchObject({ code });
    },
  );

  it('is refused once the key is expired', async () => {
    const { secret } = await harness.createKey({ expiresIn: '-1 second' });
    expect(await errorOf(await getBalance(bearer(secret)))).toMatchObject({
      code: 'invalid_api_key',
    });
  });

  it('is refused at once when the key is revoked between two requests', async () => {
    const { id, secret } = await harness.createKey();
    expect((await getBalance(bearer(secret))).status).toBe(200);
    await harness.owner.query('UPDATE api_keys SET revoked_at = now() WHERE id = ?', [id]);
    expect((await getBalance(bearer(secret))).status).toBe(401);
  });

  it('with a typo is refused without a database', async () => {
    const closed = await startHarness();
    const away = await closed.startGateway();
    await closed.cutDatabase();
    const { secret } = await harness.createKey();
    expect((await getBalance(bearer(typo(secret)), away)).status).toBe(401);
    expect((await getBalance(bearer(secret), away)).status).toBe(503);
    await closed.stop();
  });
});

describe('a key that may not do this', () => {
  it('of a suspended account is refused, whatever its address', async () => {
    const { accountId, secret } = await harness.createKey({ allowlist: ['203.0.113.7/32'] });
    await harness.owner.query(`UPDATE accounts SET status = 'suspended' WHERE id = ?`, [accountId]);
    const response = await getBalance(bearer(secret));
    expect(response.status).toBe(403);
    expect(await errorOf(response)).toMatchObject({ code: 'account_suspended' });
  });

  it.each([
    ['GET', '/balance', 'balance:read'],
    ['GET', '/payouts', 'payouts:read'],
    ['GET', '/payouts/po_1', 'payouts:read'],
    ['POST', '/payouts', 'payouts:write'],
    ['POST', '/payouts/po_1/cancel', 'payouts:write'],
    ['POST', '/payouts/po_1/release', 'payouts:write'],
  ])('without the scope of %s %s is refused and told %s', async (method, path, scope) => {
    const scopes = SCOPES.filter((other) => other !== scope);
    const { secret } = await harness.createKey({ scopes });
    const headers = bearer(secret);
    const response = await fetch(`${gateway.url}/api/v1${path}`, { method, headers });
    expect(response.status).toBe(403);
    expect(response.headers.get('RateLimit-Limit')).toBe('1200');
    expect(await errorOf(response)).toMatchObject({
      code: 'insufficient_scope',
      details: { required_scope: scope },
    });
  });
});

describe('an allowlist', () => {
  it.each([
    ['of the address', ['127.0.0.1/32'], 200],
    ['of a network', ['10.0.0.0/8', '127.0.0.0/8'], 200],
    ['of another address', ['127.0.0.2/32'], 403],
    ['of IPv6 addresses only', ['::/0'], 403],
  ])('%s lets a request pass or not', async (_, allowlist, status) => {
    const { secret } = await harness.createKey({ allowlist });
    expect((await getBalance(bearer(secret))).status).toBe(status);
  });

  it('is not opened by a forged header when no proxy is trusted', async () => {
    const { secret } = await harness.createKey({ allowlist: ['203.0.113.7/32'] });
    const forged = { ...bearer(secret), 'X-Forwarded-For': '203.0.113.7' };
    const response = await getBalance(forged);
    expect(response.status).toBe(403);
    expect(await errorOf(response)).toMatchObject({ code: 'ip_not_allowed' });
  });

  describe('behind one trusted proxy', () => {
    let proxied: Gateway;
    beforeAll(async () => {
      proxied = await harness.startGateway({ trustedProxyHops: 1 });
    });

    it.each([
      ['the address that the proxy saw', '203.0.113.7', 200],
      ['the same, mapped into IPv6', '::ffff:203.0.113.7', 200],
      ['an address that the client put in front', '203.0.113.7, 198.51.100.1', 403],
      ['a hop that is no address', 'unknown', 403],
      ['an empty hop', '203.0.113.7,', 403],
    ])('goes by %s', async (_, forwarded, status) => {
      const allowlist = ['203.0.113.7/32', '127.0.0.0/8'];
      const { secret } = await harness.createKey({ allowlist });
      const headers = { ...bearer(secret), 'X-Forwarded-For': forwarded };
      expect((await getBalance(headers, proxied)).status).toBe(status);
    });

    it('does not matter to a key without one, whatever the hop is', async () => {
      const { secret } = await harness.createKey();
      const headers = { ...bearer(secret), 'X-Forwarded-For': 'fe80::1%25, %%%' };
      expect((await getBalance(headers, proxied)).status).toBe(200);
    });
  });
});
