/** What the sender survives: receivers that drip, flood, fall silent or break off, and its own end. */
import { once } from 'node:events';
import net from 'node:net';
import { gzipSync } from 'node:zlib';
import { readAddressRules } from '../../../src/adapters/webhooks/address-policy';
import type { AttemptFailure } from '../../../src/adapters/webhooks/attempt-result';
import { dial } from '../../../src/adapters/webhooks/connect';
import type { SenderSettings } from '../../../src/adapters/webhooks/sender';
import {
  answer,
  type Behaviour,
  drip,
  flood,
  RECEIVER_ADDRESS,
  startRawListener,
  startReceiver,
  startTrap,
  type Trap,
} from '../../support/webhook/raw-receiver';
import {
  attempt,
  attemptAt,
  EVENT,
  failed,
  outcomeOf,
  succeeded,
  withSender,
} from '../../support/webhook/sender-steps';
import { waitFor } from '../../support/wait-for';

const KIB = 1024;
const NO_CONTENT = 'Content-Length: 0\r\n\r\n';
/** For receivers that would keep the sender for ever; the code is asserted, never the time. */
const SHORT_CLOCK: Partial<SenderSettings> = { limits: { deadlineMs: 4_000 } };
const SHORT_BODY: Partial<SenderSettings> = { limits: { deadlineMs: 60_000, bodyMs: 500 } };

let trap: Trap;

beforeAll(async () => {
  trap = await startTrap();
});

afterEach(() => expect(trap.connections).toBe(0));

afterAll(() => trap.close());

/** They would never end: the clock ends them. */
const ENDLESS: [name: string, behave: Behaviour][] = [
  ['accepts and says nothing', () => undefined],
  ['drips its headers', drip('HTTP/1.1 200 OK\r\nX-Slow: '.padEnd(5_000, '1'), 40)],
  ['drips a status line', drip('HTTP/1.1 200 '.padEnd(2_000, 'O'), 40)],
  [
    'sends half of its headers and falls silent',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nX-Half:'),
  ],
  [
    'sends one informational answer and falls silent',
    (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'),
  ],
];

/** Their status is known, and their body would never end. */
const ENDLESS_BODY: [name: string, behave: Behaviour, expected: object][] = [
  [
    'succeeds and falls silent in the body',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'),
    succeeded(),
  ],
  [
    'succeeds and drips its body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      drip('x', 40)(socket);
    },
    succeeded(),
  ],
  [
    'fails and falls silent in the body',
    (socket) => socket.write('HTTP/1.1 503 No\r\nContent-Length: 100\r\n\r\nabc'),
    failed('http_5xx', 503),
  ],
];

/** They end by themselves. */
const BROKEN: [name: string, behave: Behaviour, expected: object][] = [
  [
    'sends 20 KB of headers',
    answer(`HTTP/1.1 200 OK\r\nX-Big: ${'z'.repeat(20_000)}\r\n${NO_CONTENT}`),
    failed('headers_too_large'),
  ],
  [
    'sends 20 KB in small headers',
    answer(`HTTP/1.1 200 OK\r\n${'X-A: bcdefghijklmnop\r\n'.repeat(1_200)}${NO_CONTENT}`),
    failed('headers_too_large'),
  ],
  [
    'sends headers for ever',
    flood('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'),
    failed('headers_too_large'),
  ],
  ['resets the connection', (socket) => socket.resetAndDestroy(), failed('connection_reset')],
  ['closes without an answer', (socket) => socket.end(), failed('connection_reset')],
  ['closes within its headers', answer('HTTP/1.1 200 OK\r\nX-Half:'), failed('connection_reset')],
  ['answers garbage', answer('complete nonsense\r\n\r\n'), failed('protocol_error')],
  ['answers HTTP/0.9', answer('<html>hello</html>'), failed('protocol_error')],
  ['answers without a status', answer(`HTTP/1.1 \r\n${NO_CONTENT}`), failed('protocol_error')],
  [
    'answers with a status of letters',
    answer(`HTTP/1.1 OK\r\n${NO_CONTENT}`),
    failed('protocol_error'),
  ],
  ['answers like a mail server', answer('220 mail.example ESMTP\r\n'), failed('protocol_error')],
  ['answers in HTTP/2', answer(Buffer.from('000006040000000000', 'hex')), failed('protocol_error')],
  [
    'puts a NUL into a header',
    answer(`HTTP/1.1 200 OK\r\nX-A: b\0c\r\n${NO_CONTENT}`),
    failed('protocol_error'),
  ],
  [
    'names two lengths',
    answer('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    failed('protocol_error'),
  ],
  [
    'changes the protocol',
    answer('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    failed('protocol_error'),
  ],
  [
    'succeeds and resets the body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc');
      setTimeout(() => socket.resetAndDestroy(), 100);
    },
    succeeded(),
  ],
  [
    'succeeds with nonsense for a chunk',
    answer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc'),
    succeeded(),
  ],
];

describe('a receiver that', () => {
  test(`never ends its headers is ended by the clock: ${ENDLESS.map(([name]) => name).join(', ')}`, async () => {
    const results = await Promise.all(
      ENDLESS.map(async ([name, behave]) => ({
        name,
        ...outcomeOf((await attemptAt(behave, SHORT_CLOCK)).result),
      })),
    );
    expect(results).toEqual(ENDLESS.map(([name]) => ({ name, ...failed('timeout') })));
  });

  // Alone, because it keeps this process busy.
  test('sends informational answers for ever', async () => {
    const pieces = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100);
    await expectOutcome(flood('', pieces), SHORT_CLOCK, failed('timeout'));
  });

  test.each(ENDLESS_BODY)('%s', async (_, behave, expected) => {
    await expectOutcome(behave, SHORT_BODY, expected);
  });

  test.each(BROKEN)('%s', async (_, behave, expected) => {
    await expectOutcome(behave, {}, expected);
  });

  async function expectOutcome(
    behave: Behaviour,
    settings: Partial<SenderSettings>,
    expected: object,
  ): Promise<void> {
    const { result } = await attemptAt(behave, settings);
    expect(outcomeOf(result)).toEqual(expected);
    expect(result.error ?? '').not.toMatch(/127\.0\.0|:\d{4}/);
    expect(result.requestHeaders).not.toEqual({});
  }

  test('takes no byte of the request (a window of zero)', async () => {
    const receiver = await startRawListener((socket) => socket.pause());
    const url = `http://${RECEIVER_ADDRESS}:${receiver.port}/`;
    const result = await attempt(url, SHORT_CLOCK, { body: Buffer.alloc(64 * KIB * KIB) });
    expect(outcomeOf(result)).toEqual(failed('timeout'));
    await receiver.close();
  });

  test('speaks before it was asked', async () => {
    const receiver = await startRawListener((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const url = `http://${RECEIVER_ADDRESS}:${receiver.port}/`;
    expect(['protocol_error', 'connection_reset']).toContain((await attempt(url)).errorCode);
    await receiver.close();
  });

  test('is not there', async () => {
    const receiver = await startReceiver(() => undefined);
    await receiver.close();
    const result = await attempt(`http://${RECEIVER_ADDRESS}:${receiver.port}/`);
    expect(outcomeOf(result)).toEqual(failed('connect_refused'));
    expect(result).toMatchObject({ requestHeaders: {}, timing: { connectMs: null } });
    expect(result.error).not.toContain(RECEIVER_ADDRESS);
  });

  test('cannot be connected to in time', async () => {
    const receiver = await startReceiver(() => undefined);
    const rules = readAddressRules([`${RECEIVER_ADDRESS}/32`], []);
    const late = dial([RECEIVER_ADDRESS], receiver.port, rules, AbortSignal.abort());
    await expect(late).rejects.toEqual(
      expect.objectContaining({ code: 'connect_timeout' }) as AttemptFailure,
    );
    await receiver.close();
  });

  test('answers in time and takes longer for its body: the body has time of its own', async () => {
    const behave: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n');
      setTimeout(() => socket.end('late'), 5_000);
    };
    const limits = { deadlineMs: 4_000, bodyMs: 60_000 };
    const { result } = await attemptAt(behave, { limits });
    expect(outcomeOf(result)).toEqual(succeeded());
    expect(result.responseBody.toString()).toBe('late');
    expect(result.responseTruncated).toBe(false);
  });

  test('sends 10 GB: it is stopped after 16 KiB, and memory stays flat', async () => {
    const total = 10 * KIB ** 3;
    let written = 0;
    const behave = flood(
      `HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`,
      Buffer.alloc(64 * KIB, 'x'),
      (bytes) => (written += bytes),
    );
    const before = process.memoryUsage().arrayBuffers;
    const { result } = await attemptAt(behave);
    expect(outcomeOf(result)).toEqual(succeeded());
    expect(result).toMatchObject({ responseTruncated: true });
    expect(result.responseBody).toHaveLength(16 * KIB);
    // What the two kernels' buffers hold, and not a hundredth of the whole.
    expect(written).toBeLessThan(total / 100);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(total / 100);
  });

  test('sends a gzip bomb: it is kept as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * KIB * KIB));
    const head =
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n' +
      `Content-Length: ${bomb.length}\r\n\r\n`;
    const { result } = await attemptAt(answer(Buffer.concat([Buffer.from(head), bomb])));
    expect(outcomeOf(result)).toEqual(succeeded());
    expect(result.responseBody.equals(bomb.subarray(0, 16 * KIB))).toBe(true);
  });
});

describe('when the sender is closed', () => {
  test('an attempt under way is given up, and not told as the receiver’s silence', async () => {
    const receiver = await startReceiver(() => undefined);
    await withSender({}, async (sender) => {
      const url = `http://${RECEIVER_ADDRESS}:${receiver.port}/`;
      const given = expect(sender.send({ ...EVENT, url })).rejects.toThrow('closed');
      await waitFor('the request', () => receiver.received[0]);
      await sender.close();
      await given;
      await expect(sender.send({ ...EVENT, url })).rejects.toThrow('closed');
      await expect(sender.check(url, 'test')).rejects.toThrow('closed');
    });
    await receiver.close();
  });
});

test('every connection is closed when its attempt ends', async () => {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'));
  });
  server.listen(0, RECEIVER_ADDRESS);
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const result = await attempt(`http://${RECEIVER_ADDRESS}:${port}/`, SHORT_BODY);
  expect(outcomeOf(result)).toEqual(succeeded());
  await waitFor('the end of the connection', () => sockets[0]?.closed);
  server.close();
  await once(server, 'close');
});
