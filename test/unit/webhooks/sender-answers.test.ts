/** What the sender sends, and what it makes of ordinary answers. */
import { randomBytes } from 'node:crypto';
import { verifyWebhook } from '../../../clients/typescript/src/webhooks';
import {
  answer,
  type Behaviour,
  RECEIVER_ADDRESS,
  startReceiver,
  startTrap,
  type Trap,
} from '../../support/webhook/raw-receiver';
import {
  attemptAt,
  EVENT,
  failed,
  outcomeOf,
  succeeded,
  withSender,
} from '../../support/webhook/sender-steps';

const KIB = 1024;
const NO_CONTENT = 'Content-Length: 0\r\n\r\n';
let trap: Trap;

beforeAll(async () => {
  trap = await startTrap();
});

afterEach(() => expect(trap.connections).toBe(0));

afterAll(() => trap.close());

const status = (code: number): Behaviour => answer(`HTTP/1.1 ${code} Text\r\n${NO_CONTENT}`);

describe('the request', () => {
  test('is the specification’s: method, headers, the exact body, and a signature that fits', async () => {
    const { result, receiver } = await attemptAt(status(200));
    const [head = '', body = ''] = receiver.received[0]!.split('\r\n\r\n');
    const [line, ...lines] = head.split('\r\n');
    const headers = Object.fromEntries(lines.map((each) => each.split(': ') as [string, string]));
    expect(line).toBe('POST /hook?a=1 HTTP/1.1');
    expect(body).toBe(EVENT.body.toString());
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    expect(lower).toMatchObject({
      host: `${RECEIVER_ADDRESS}:${receiver.port}`,
      connection: 'close',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'x-gateway-event': EVENT.eventType,
      'x-gateway-event-id': EVENT.eventId,
    });
    expect(lower['x-gateway-signature']).toContain(`t=${lower['x-gateway-timestamp']},v1=`);
    expect(verifyWebhook(body, headers, EVENT.secret).id).toBe(EVENT.eventId);
    expect(result.requestHeaders).toMatchObject({
      'X-Gateway-Signature': lower['x-gateway-signature'],
      'Content-Type': 'application/json',
    });
  });

  test('the result holds no secret', async () => {
    const { result } = await attemptAt(status(500));
    expect(JSON.stringify(result)).not.toContain(EVENT.secret);
  });

  test('bytes are sent as they are, whatever they are', async () => {
    const body = randomBytes(70 * KIB);
    const { receiver } = await attemptAt(
      (socket) => setTimeout(() => socket.end(`HTTP/1.1 200 OK\r\n${NO_CONTENT}`), 200),
      {},
      { body },
    );
    const [, ...rest] = receiver.received[0]!.split('\r\n\r\n');
    expect(Buffer.from(rest.join('\r\n\r\n'), 'latin1').equals(body)).toBe(true);
  });

  test('connections are not shared, not even by attempts at one endpoint', async () => {
    const receiver = await startReceiver((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${NO_CONTENT}`),
    );
    const url = `http://${RECEIVER_ADDRESS}:${receiver.port}/`;
    await withSender({}, async (sender) => {
      for (let nth = 0; nth < 3; nth += 1) {
        expect(outcomeOf(await sender.send({ ...EVENT, url }))).toEqual(succeeded());
      }
    });
    expect(receiver.connections).toBe(3);
    await receiver.close();
  });
});

describe('the answer', () => {
  test.each([200, 201, 202, 204, 299])('%i succeeds', async (code) => {
    expect(outcomeOf((await attemptAt(status(code))).result)).toEqual(succeeded(code));
  });

  test.each([
    [300, 'http_3xx'],
    [304, 'http_3xx'],
    [400, 'http_4xx'],
    [404, 'http_4xx'],
    [410, 'http_4xx'],
    [429, 'http_4xx'],
    [500, 'http_5xx'],
    [503, 'http_5xx'],
    [600, 'protocol_error'],
    [999, 'protocol_error'],
  ])('%i fails as %s', async (code, errorCode) => {
    const { result } = await attemptAt(status(code));
    expect(outcomeOf(result)).toEqual(failed(errorCode, code));
    expect(result.error).toContain(String(code));
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) to the trap is not followed',
    async (code) => {
      const { result } = await attemptAt(
        answer(
          `HTTP/1.1 ${code} Moved\r\nLocation: http://${trap.address}:${trap.port}/\r\n${NO_CONTENT}`,
        ),
      );
      expect(outcomeOf(result)).toEqual(failed('http_3xx', code));
    },
  );

  const INTERIM = {
    100: 'HTTP/1.1 100 Continue\r\n\r\n',
    102: 'HTTP/1.1 102 Processing\r\n\r\n',
    103: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  };
  test.each<(keyof typeof INTERIM)[]>([[100], [102], [103], [100, 103], [100, 100, 102]])(
    'an interim answer is passed over (%s)',
    async (...codes) => {
      const interim = codes.filter((code) => code in INTERIM).map((code) => INTERIM[code]);
      const { result } = await attemptAt(
        answer(`${interim.join('')}HTTP/1.1 201 Created\r\n${NO_CONTENT}`),
      );
      expect(outcomeOf(result)).toEqual(succeeded(201));
    },
  );

  test('the body is kept as bytes, NUL and all', async () => {
    const body = Buffer.from([0x00, 0xff, 0x41, 0x00, 0xc3, 0x28]);
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { result } = await attemptAt(answer(Buffer.concat([Buffer.from(head), body])));
    expect(result.responseBody.equals(body)).toBe(true);
    expect(result.responseTruncated).toBe(false);
  });

  test.each([
    [16 * KIB - 1, false],
    [16 * KIB, false],
    [16 * KIB + 1, true],
    [300 * KIB, true],
  ])('of a body of %i bytes 16 KiB are kept (cut: %s)', async (length, truncated) => {
    const body = Buffer.alloc(length, 'x');
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
    const { result } = await attemptAt(answer(Buffer.concat([Buffer.from(head), body])));
    expect(result.responseBody.equals(body.subarray(0, 16 * KIB))).toBe(true);
    expect(result.responseTruncated).toBe(truncated);
  });

  test('a body in chunks, and one that ends with the connection', async () => {
    const chunked = answer(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    );
    expect((await attemptAt(chunked)).result.responseBody.toString()).toBe('abcde');
    const { result } = await attemptAt(answer('HTTP/1.1 500 Oh\r\n\r\nno'));
    expect(result.responseBody.toString()).toBe('no');
    expect(outcomeOf(result)).toEqual(failed('http_5xx', 500));
  });

  test('headers are kept in order, without cookies, 64 of 1 KB each', async () => {
    const many = Array.from({ length: 80 }, (_, index) => `X-${index}: ${index}`).join('\r\n');
    const { result } = await attemptAt(
      answer(
        `HTTP/1.1 410 Gone\r\nSet-Cookie: a=b\r\nset-cookie2: c=d\r\nRetry-After: 3600\r\n` +
          `X-Long: ${'y'.repeat(4 * KIB)}\r\n${many}\r\n${NO_CONTENT}`,
      ),
    );
    expect(result.responseHeaders).toHaveLength(64);
    expect(result.responseHeaders[0]).toEqual(['retry-after', '3600']);
    expect(result.responseHeaders[1]).toEqual(['x-long', 'y'.repeat(KIB - 'x-long'.length)]);
    expect(result.responseHeaders[2]).toEqual(['x-0', '0']);
    expect(JSON.stringify(result.responseHeaders)).not.toMatch(/cookie/);
  });

  test('the parts of the time are told as far as they were reached', async () => {
    const started = new Date();
    const { result } = await attemptAt(status(200));
    expect(result.startedAt.getTime()).toBeGreaterThanOrEqual(started.getTime());
    expect(result.timing).toEqual({
      dnsMs: expect.any(Number),
      connectMs: expect.any(Number),
      tlsMs: null,
      firstByteMs: expect.any(Number),
    });
    expect(Number.isInteger(result.durationMs)).toBe(true);
  });
});
