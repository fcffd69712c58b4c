/** What a hostile or broken client can put into the body of POST /payouts. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { scaled } from '../../support/scale';
import { bearer, errorOf, startHarness } from '../http-harness';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let secret: string;

beforeEach(async () => {
  ({ secret } = await harness.createKey());
});

const BODY = {
  amount: '10',
  currency: 'USDT',
  reference: 'order_1',
  destination: { type: 'exchange_id', value: '123456' },
};

function post(
  body: string | Buffer | null,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}/api/v1/payouts`, {
    method: 'POST',
    headers: { ...bearer(secret), 'Content-Type': 'application/json', ...headers },
    body: body as BodyInit | null,
  });
}

const text = (change: object) => JSON.stringify({ ...BODY, ...change });
const withAmount = (number: string) => text({}).replace('"10"', number);

describe('a body', () => {
  it.each<[number, string, string, string | Buffer | null, Record<string, string>?]>([
    [400, 'invalid_json', 'is missing', null],
    [400, 'invalid_json', 'is empty', ''],
    [400, 'invalid_json', 'is random bytes', randomBytes(2_000)],
    [400, 'invalid_json', 'is not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
    [400, 'invalid_json', 'is UTF-16', Buffer.from('{}', 'utf16le')],
    [400, 'invalid_json', 'has a raw NUL', '{"reference":"a\0"}'],
    [400, 'invalid_json', 'is cut off', text({}).slice(0, -2)],
    [400, 'invalid_json', 'has a member twice', `{"amount":"1",${text({}).slice(1)}`],
    [400, 'invalid_json', 'has a member twice alike', `{"amount":"10",${text({}).slice(1)}`],
    [400, 'invalid_json', 'is nested deep', '['.repeat(60_000)],
    [400, 'invalid_json', 'is deep objects', '{"a":'.repeat(10_000)],
    [400, 'invalid_json', 'is an array', '[]'],
    [400, 'invalid_json', 'has 65536 bytes', ' '.repeat(65_536)],
    [413, 'payload_too_large', 'has 65537 bytes', ' '.repeat(65_537)],
    [413, 'payload_too_large', 'has 100 kB', 'x'.repeat(100_000)],
    [413, 'payload_too_large', 'has 20 MB', Buffer.alloc(20_000_000)],
    [
      415,
      'unsupported_media_type',
      'is a form',
      'amount=1',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    ],
    [415, 'unsupported_media_type', 'is text', text({}), { 'Content-Type': 'text/plain' }],
    [
      415,
      'unsupported_media_type',
      'is nearly JSON',
      text({}),
      { 'Content-Type': 'application/jsonx' },
    ],
    [415, 'unsupported_media_type', 'has no media type', text({}), { 'Content-Type': '' }],
    [
      415,
      'unsupported_media_type',
      'is in another charset',
      text({}),
      { 'Content-Type': 'application/json; charset=utf-16' },
    ],
    [
      415,
      'unsupported_media_type',
      'is compressed',
      gzipSync(text({})),
      { 'Content-Encoding': 'gzip' },
    ],
    [415, 'unsupported_media_type', 'has a strange coding', text({}), { 'Content-Encoding': 'x' }],
    [422, 'validation_failed', 'has an escaped NUL', text({ description: 'a\0b' })],
    [422, 'validation_failed', 'has 40 digits', withAmount('1'.repeat(40))],
    [422, 'validation_failed', 'has a huge exponent', withAmount('1e999999999')],
    [422, 'validation_failed', 'has a tiny exponent', withAmount('1e-9')],
    [422, 'validation_failed', 'has a negative number', withAmount('-1')],
    [422, 'validation_failed', 'is an empty object', '{}'],
    [422, 'validation_failed', 'has a member __proto__', `{"__proto__":{},${text({}).slice(1)}`],
  ])('that makes %i %s: %s', async (status, code, _, body, headers = {}) => {
    const response = await post(body, headers);
    const error = await errorOf(response);
    expect([response.status, error.code]).toEqual([status, code]);
    expect(response.headers.get('X-Request-Id')).toBe(error.request_id);
    expect(response.headers.get('RateLimit-Remaining')).not.toBeNull();
  });

  it('of endless chunks is refused when it passes the limit', async () => {
    const sent = request(`${gateway.url}/api/v1/payouts`, {
      method: 'POST',
      headers: { ...bearer(secret), 'Content-Type': 'application/json' },
    });
    sent.on('error', () => undefined);
    const sending = setInterval(() => sent.write(' '.repeat(16_384)), 5);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    clearInterval(sending);
    sent.destroy();
    expect(response.statusCode).toBe(413);
  });

  it('of any bytes never makes a fault', async () => {
    for (let i = 0; i < scaled(50, 1_000); i++) {
      const response = await post(randomBytes(1 + (i % 400)));
      expect([400, 422]).toContain(response.status);
    }
  });

  it.each<[string, Buffer]>([
    ['whole', Buffer.from(text({}))],
    ['broken off', Buffer.from(text({}).slice(0, 20))],
    ['missing', Buffer.alloc(0)],
  ])('of a client that has left is no fault of ours: %s', async (_, body) => {
    const before = gateway.log.length;
    for (let i = 0; i < 5; i++) {
      const socket = connect(gateway.port, '127.0.0.1', () => {
        socket.write(
          `POST /api/v1/payouts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${text({}).length}\r\n\r\n`,
        );
        socket.write(body, () => socket.resetAndDestroy());
      });
    }
    const lines = await waitFor('the lines of the requests', () => {
      const own = gateway.log.slice(before).filter(({ msg }) => msg === 'request');
      return own.length < 5 ? undefined : own;
    });
    expect(lines.filter(({ status }) => Number(status) >= 500)).toEqual([]);
    expect(gateway.log.slice(before).filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  // 400: it passed the body's checks and met the next one, the missing key.
  it.each([
    ['plain JSON', text({}), 'application/json'],
    ['JSON with a charset', text({}), 'Application/JSON; Charset=UTF-8'],
    ['JSON with a byte order mark', `\ufeff${text({})}`, 'application/json'],
    ['a number with an exponent', withAmount('1e2'), 'application/json'],
    ['a number with all its digits', withAmount('12345678901234567.12345678'), 'application/json'],
  ])('is accepted as %s', async (_, body, type) => {
    const error = await errorOf(await post(body, { 'Content-Type': type }));
    expect(error.code).toBe('idempotency_key_required');
  });
});

describe('the Idempotency-Key', () => {
  it.each([
    ['empty', ''],
    ['of 192 characters', 'k'.repeat(192)],
    ['with a tab', 'a\tb'],
    ['with a letter beyond ASCII', 'clé'],
  ])('is refused: %s [limit Idempotency-Key]', async (_, idempotencyKey) => {
    const response = await post(text({}), { 'Idempotency-Key': idempotencyKey });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'idempotency_key_required' });
  });

  it('is refused when it is sent twice', async () => {
    const sent = request(`${gateway.url}/api/v1/payouts`, {
      method: 'POST',
      headers: {
        ...bearer(secret),
        'Content-Type': 'application/json',
        'Idempotency-Key': ['one', 'two'],
      },
    }).end(text({}));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(400);
  });

  it.each([
    ['1 character', '~'],
    ['191 characters with a space', `${'k'.repeat(100)} ${'k'.repeat(90)}`],
  ])('may be %s [limit Idempotency-Key]', async (_, idempotencyKey) => {
    // It came through to the service, and this gateway has no provider.
    const response = await post(text({}), { 'Idempotency-Key': idempotencyKey });
    expect((await errorOf(response)).code).toBe('destination_not_supported');
  });

  it('is looked at only after the body', async () => {
    const response = await post(text({ amount: '0' }), { 'Idempotency-Key': '' });
    expect(await errorOf(response)).toMatchObject({ code: 'validation_failed' });
  });
});

describe('a body with many rows', () => {
  const LIST = { object: 'payment', created_from: '2026-01-01', created_to: '2026-01-31' };
  const row = { reference: 'order-0', amount: '10', currency: 'USDT' };
  const listOf = (rows: readonly unknown[]) => JSON.stringify({ ...LIST, rows });
  const rows = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ ...row, reference: `order-${n}` }));
  const compare = (body: string, key = secret) =>
    fetch(`${gateway.url}/api/v1/reconciliations`, {
      method: 'POST',
      headers: { ...bearer(key), 'Content-Type': 'application/json' },
      body,
    });

  it('is read whatever its length, and refused alike', async () => {
    for (const count of [1, 10_000]) {
      const { data } = (await (await compare(listOf(rows(count)))).json()) as {
        data: { counts: Record<string, number> };
      };
      expect(data.counts['unknown']).toBe(count);
    }
    const refused = async (body: string) => {
      const { code, details } = await errorOf(await compare(body));
      return [code, details];
    };
    const field = { field: 'rows.0.amount', rule: 'min_amount' };
    for (const more of [[], rows(9_999)]) {
      expect(await refused(listOf([{ ...row, amount: '0' }, ...more]))).toEqual([
        'validation_failed',
        { fields: [expect.objectContaining(field)] },
      ]);
    }
    const tooMany = { fields: [expect.objectContaining({ field: 'rows', rule: 'type' })] };
    expect(await refused(listOf(rows(10_001)))).toEqual(['validation_failed', tooMany]);
    expect(await refused(`${listOf(rows(9_000))}{`)).toEqual(['invalid_json', undefined]);
  });

  it.each([
    ['numbers', '1,'],
    ['empty objects', '{},'],
  ])('of millions of %s is refused before it is parsed', async (_, value) => {
    const crowd = value.repeat(8_000_000 / value.length);
    const error = await errorOf(await compare(`{"rows":[${crowd}1]}`));
    expect(error).toMatchObject({
      code: 'payload_too_large',
      message: 'The body has more than 400,000 values. Send fewer rows.',
    });
  });

  it('waits for the one before it of the account, and for that of no other account', async () => {
    const other = await harness.createKey();
    const body = listOf(rows(2_000));
    const sent = request(`${gateway.url}/api/v1/reconciliations`, {
      method: 'POST',
      headers: { ...bearer(secret), 'Content-Type': 'application/json' },
    });
    sent.write(body.slice(0, 100));
    // The first one has its turn when a request that came later is answered.
    expect((await compare(body, other.secret)).status).toBe(200);
    const answered: string[] = [];
    const second = compare(body).then(({ status }) => answered.push(`second ${status}`));
    expect((await compare(listOf([row]))).status).toBe(200);
    expect((await compare(body, other.secret)).status).toBe(200);
    expect(answered).toEqual([]);
    sent.end(body.slice(100));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    await second;
    expect(answered).toEqual(['second 200']);
  });
});
