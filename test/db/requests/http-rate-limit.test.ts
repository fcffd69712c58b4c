import { setTimeout as wait } from 'node:timers/promises';
import { type Gateway, bearer, errorOf, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
let first: Gateway;
let second: Gateway;

beforeAll(async () => {
  [first, second] = await Promise.all([harness.startGateway(), harness.startGateway()]);
});

/** Counts requests of a key in this minute. */
const COUNT = `INSERT INTO api_key_minutes
  SELECT id, date_trunc('minute', clock_timestamp()), ?, account_id, mode FROM api_keys WHERE id = ?`;

/** The window is the clock's minute: a test that would cross its end waits for the next. */
async function withinOneMinute(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 5_000) await wait(leftMs + 50);
}

function rateOf(response: Response): number[] {
  return ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number(response.headers.get(`RateLimit-${name}`)),
  );
}

describe('the rate limit', () => {
  beforeEach(withinOneMinute, 20_000);

  it('is one window for all processes, counted down in the headers [error 429 rate_limited]', async () => {
    const { secret } = await harness.createKey({ requestsPerMinute: 3 });
    const remaining: number[] = [];
    for (const { url } of [first, second, first]) {
      const response = await fetch(`${url}/api/v1/balance`, { headers: bearer(secret) });
      expect(response.status).toBe(200);
      const [limit, left, reset] = rateOf(response);
      expect(limit).toBe(3);
      expect(reset).toBeGreaterThanOrEqual(1);
      expect(reset).toBeLessThanOrEqual(60);
      remaining.push(left!);
    }
    expect(remaining).toEqual([2, 1, 0]);
    for (const { url } of [first, second]) {
      const response = await fetch(`${url}/api/v1/balance`, { headers: bearer(secret) });
      expect(response.status).toBe(429);
      expect(await errorOf(response)).toMatchObject({ code: 'rate_limited' });
      expect(rateOf(response).slice(0, 2)).toEqual([3, 0]);
      expect(response.headers.get('Retry-After')).toBe(response.headers.get('RateLimit-Reset'));
    }
  });

  it('writes nothing once it is exceeded', async () => {
    const { id, secret } = await harness.createKey({ requestsPerMinute: 2 });
    const ask = () => fetch(`${first.url}/api/v1/balance`, { headers: bearer(secret) });
    const sql = `SELECT xmin::text, xmax::text, ctid::text, requests FROM api_key_minutes
                  WHERE api_key_id = ?`;
    const readRow = () => harness.owner.query(sql, [id]);
    for (const status of [200, 200, 429]) expect((await ask()).status).toBe(status);
    const before = await readRow();
    expect(before).toEqual([expect.objectContaining({ requests: 2 })]);
    for (let n = 0; n < 5; n++) expect((await ask()).status).toBe(429);
    expect(await readRow()).toEqual(before);
  });

  it('lets exactly as many of a burst pass, over both processes', async () => {
    const { secret } = await harness.createKey({ requestsPerMinute: 20 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        fetch(`${(i % 2 ? first : second).url}/api/v1/balance`, { headers: bearer(secret) }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it('comes before scope and body, and its headers are on their errors too', async () => {
    const { secret } = await harness.createKey({ requestsPerMinute: 1, scopes: [] });
    const post = () =>
      fetch(`${first.url}/api/v1/payouts`, { method: 'POST', headers: bearer(secret), body: '{' });
    const refused = await post();
    expect(refused.status).toBe(403);
    expect(rateOf(refused).slice(0, 2)).toEqual([1, 0]);
    expect((await post()).status).toBe(429);
  });

  it('is each key’s own', async () => {
    const one = await harness.createKey({ requestsPerMinute: 1 });
    const other = await harness.createKey({ requestsPerMinute: 1, accountId: one.accountId });
    for (const { secret } of [one, other]) {
      const response = await fetch(`${first.url}/api/v1/balance`, { headers: bearer(secret) });
      expect(response.status).toBe(200);
    }
  });

  it('starts again with the next minute', async () => {
    const { id, secret } = await harness.createKey({ requestsPerMinute: 1 });
    const ask = () => fetch(`${first.url}/api/v1/balance`, { headers: bearer(secret) });
    await ask();
    expect((await ask()).status).toBe(429);
    const earlier = `UPDATE api_key_minutes SET minute = minute - interval '1 minute'`;
    await harness.owner.query(`${earlier} WHERE api_key_id = ?`, [id]);
    // The process that refused the key remembers it until the minute ends.
    const asked = await fetch(`${second.url}/api/v1/balance`, { headers: bearer(secret) });
    expect(asked.status).toBe(200);
  });

  it('is the account’s too, over all its keys: more keys do not make more requests', async () => {
    const { id, secret, accountId } = await harness.createKey();
    const others = await Promise.all(
      Array.from({ length: 60 }, () => harness.createKey({ accountId })),
    );
    await harness.owner.query(COUNT, [1_190, id]);
    const answers: Response[] = [];
    for (const other of others.slice(0, 12)) {
      const headers = bearer(other.secret);
      answers.push(await fetch(`${first.url}/api/v1/balance`, { headers }));
    }
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429]);
    const refused = answers.at(-1)!;
    expect(rateOf(refused).slice(0, 2)).toEqual([1_200, 0]);
    expect(await errorOf(refused)).toMatchObject({ details: { limit_per_minute: 1_200 } });
    // The key that has sent the most is refused too, and another account or mode is not.
    const most = await fetch(`${second.url}/api/v1/balance`, { headers: bearer(secret) });
    expect(most.status).toBe(429);
    for (const free of [
      await harness.createKey({ accountId, mode: 'live' }),
      await harness.createKey(),
    ]) {
      const answer = await fetch(`${second.url}/api/v1/balance`, { headers: bearer(free.secret) });
      expect(answer.status).toBe(200);
    }
  });

  it('of the account is 2,400 requests a minute in live mode', async () => {
    const live = await harness.createKey({ mode: 'live' });
    const { accountId } = live;
    const other = await harness.createKey({ mode: 'live', accountId });
    await harness.owner.query(COUNT, [2_399, other.id]);
    const ask = ({ secret }: { secret: string }) =>
      fetch(`${first.url}/api/v1/balance`, { headers: bearer(secret) });
    expect((await ask(live)).status).toBe(200);
    expect((await ask(live)).status).toBe(429);
  });

  it('refuses again from memory, slowly, until the minute ends', async () => {
    const { id, secret } = await harness.createKey({ requestsPerMinute: 1 });
    const ask = () => fetch(`${first.url}/api/v1/balance`, { headers: bearer(secret) });
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
    // Even without its row: the database is not asked.
    await harness.owner.query('DELETE FROM api_key_minutes WHERE api_key_id = ?', [id]);
    const begun = performance.now();
    const again = await ask();
    expect(performance.now() - begun).toBeGreaterThan(400);
    expect(again.status).toBe(429);
    const [limit, remaining, reset] = rateOf(again);
    expect([limit, remaining]).toEqual([1, 0]);
    expect(reset).toBeLessThanOrEqual(60);
    expect(again.headers.get('Retry-After')).toBe(String(reset));
  });

  it('is remembered for the address that exceeded it: another one is told that it is not allowed', async () => {
    const { url } = await harness.startGateway({ trustedProxyHops: 1 });
    const { secret } = await harness.createKey({
      requestsPerMinute: 1,
      allowlist: ['192.0.2.1/32'],
    });
    const ask = (from: string) =>
      fetch(`${url}/api/v1/balance`, { headers: { ...bearer(secret), 'X-Forwarded-For': from } });
    expect((await ask('192.0.2.1')).status).toBe(200);
    expect((await ask('192.0.2.1')).status).toBe(429);
    const refused = await ask('192.0.2.2');
    expect(refused.status).toBe(403);
    expect(await errorOf(refused)).toMatchObject({ code: 'ip_not_allowed' });
  });

  it('does not count a request from an address that the key does not allow', async () => {
    const { id, secret } = await harness.createKey({ allowlist: ['192.0.2.1/32'] });
    await fetch(`${first.url}/api/v1/balance`, { headers: bearer(secret) });
    const counted = await harness.owner.query('SELECT FROM api_key_minutes WHERE api_key_id = ?', [
      id,
    ]);
    expect(counted).toEqual([]);
  });
});
