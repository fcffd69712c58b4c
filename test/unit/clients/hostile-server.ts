/**
 * What stands between a client and the gateway, or breaks on the way, on bare sockets. The first answer of a fault is hostile; a
 * client that asks again gets the gateway's, so that a repetition shows with its key.
 */
import { once } from 'node:events';
import net from 'node:net';
import { gzipSync } from 'node:zlib';

const PAYMENT = JSON.stringify({ data: { id: 'pay_1', object: 'payment', status: 'created' } });
const HTML = '<html><body>Bad gateway</body></html>';

const answer = (status: number, type: string, body: string | Buffer, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status} Text\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}` +
        `X-Request-Id: req_hostile\r\nContent-Length: ${body.length}\r\n${more}Connection: close\r\n\r\n`,
    ),
    Buffer.from(body),
  ]);
const JSON_TYPE = 'application/json';
const GOOD = answer(201, JSON_TYPE, PAYMENT);
const before = (interim: string): Buffer => Buffer.concat([Buffer.from(interim), GOOD]);

export const FAULTS = {
  'HTML with 200': answer(200, 'text/html', HTML),
  'HTML with 502': answer(502, 'text/html', HTML),
  'an empty body with 200': answer(200, JSON_TYPE, ''),
  'an empty body with 403': answer(403, '', ''),
  'a cut body': Buffer.from(GOOD.toString().replace(/Length: \d+/, 'Length: 5000')),
  'a cut body that looks whole': answer(201, JSON_TYPE, PAYMENT.slice(0, 20)),
  'a body of chunks that ends early': Buffer.from(
    `HTTP/1.1 201 Text\r\nContent-Type: ${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"data"`,
  ),
  'a wrong shape': answer(200, JSON_TYPE, '{"ok":true}'),
  'a list for an object': answer(200, JSON_TYPE, '[1]'),
  null: answer(200, JSON_TYPE, 'null'),
  'an error of another form': answer(422, JSON_TYPE, '{"error":{"code":["x"],"message":1}}'),
  'a redirect': answer(302, 'text/html', HTML, 'Location: https://login.example.com/\r\n'),
  'no HTTP': Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
  nothing: Buffer.alloc(0),
  '204': Buffer.from('HTTP/1.1 204 Text\r\nX-Request-Id: req_hostile\r\nConnection: close\r\n\r\n'),
  gzip: answer(201, JSON_TYPE, gzipSync(PAYMENT), 'Content-Encoding: gzip\r\n'),
  'gzip that is none': answer(201, JSON_TYPE, PAYMENT, 'Content-Encoding: gzip\r\n'),
  '100 before the answer': before('HTTP/1.1 100 Continue\r\n\r\n'),
  '102 before the answer': before('HTTP/1.1 102 Processing\r\n\r\n'),
  '103 before the answer': before('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
} as const satisfies Record<string, Buffer>;
export type Fault = keyof typeof FAULTS;

/** What becomes of each: `created at n` at the attempt n, with one key, or the error of the client. */
export const OUTCOMES: Record<Fault, string> = {
  'HTML with 200': 'unexpected 200 text/html req_hostile',
  'HTML with 502': 'created at 2',
  'an empty body with 200': 'created at 2',
  'an empty body with 403': 'unexpected 403 null req_hostile',
  'a cut body': 'created at 2',
  'a cut body that looks whole': 'created at 2',
  'a body of chunks that ends early': 'created at 2',
  'a wrong shape': `unexpected 200 ${JSON_TYPE} req_hostile`,
  'a list for an object': `unexpected 200 ${JSON_TYPE} req_hostile`,
  null: `unexpected 200 ${JSON_TYPE} req_hostile`,
  'an error of another form': `unexpected 422 ${JSON_TYPE} req_hostile`,
  'a redirect': 'unexpected 302 text/html req_hostile',
  'no HTTP': 'created at 2',
  nothing: 'created at 2',
  '204': 'unexpected 204 null req_hostile',
  gzip: 'created at 1',
  'gzip that is none': 'created at 2',
  '100 before the answer': 'created at 1',
  '102 before the answer': 'created at 1',
  '103 before the answer': 'created at 1',
};

interface HostileServer {
  baseUrl: string;
  /** The idempotency key of each request. */
  keys: (string | undefined)[];
  stop: () => void;
}

export async function startHostileServer(fault: Fault): Promise<HostileServer> {
  const keys: (string | undefined)[] = [];
  const server = net.createServer((socket) => {
    let text = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const isNew = !text.includes('\r\n\r\n');
      text += chunk.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length || (!isNew && length === 0)) return;
      keys.push(/idempotency-key: (.*)/i.exec(head)?.[1]);
      // A proxy that sends interim answers always does.
      const isFaulty = keys.length === 1 || fault.endsWith('before the answer');
      socket.end(isFaulty ? FAULTS[fault] : GOOD);
    });
  });
  server.unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    keys,
    stop: () => void server.close(),
  };
}
