/** The listening socket: answers to what is no request, and an orderly end. */
import { connect } from 'node:net';
import { once } from 'node:events';
import Koa from 'koa';
import type { GatewayState } from '../../../src/kit/api/context';
import { type RunningServer, startServer } from '../../../src/shell/api/server';
import { SetupError } from '../../../src/platform/lib/setup-error';

const servers: RunningServer[] = [];

async function start(app: Koa<GatewayState>, port = 0): Promise<RunningServer> {
  const server = await startServer(app, port);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** An application that answers after `delayMs`, and tells when a request has arrived. */
function slowApp(delayMs: number): { app: Koa<GatewayState>; arrived: Promise<void> } {
  const app = new Koa<GatewayState>();
  const arrived = new Promise<void>((resolve) => {
    app.use(async (ctx) => {
      resolve();
      await new Promise((done) => setTimeout(done, delayMs).unref());
      ctx.body = { done: true };
    });
  });
  return { app, arrived };
}

/** Everything the server writes until it ends the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

describe('bytes that are no HTTP request', () => {
  it.each([
    ['rubbish', 'hello\r\n\r\n', 400],
    ['a broken request line', 'GET /a b c HTTP/1.1\r\n\r\n', 400],
    ['a header without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('are answered with a status and a request id: %s', async (_, bytes, status) => {
    const { port } = await start(slowApp(0).app);
    const answer = await exchange(port, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(bodyOf(answer)).toEqual({
      error: {
        code: status === 431 ? 'headers_too_large' : 'invalid_request',
        message: expect.stringMatching(/^[A-Z].*\.$/),
        request_id: requestIdOf(answer),
      },
    });
  });

  it('are answered once, however many follow', async () => {
    const { port } = await start(slowApp(0).app);
    const answer = await exchange(port, 'hello\r\n\r\nhello\r\n\r\n');
    expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1);
  });
});

// Concurrent: it waits beside the other tests, and stops its own server.
test.concurrent('headers that never end are cut off after 10 seconds', async () => {
  const { port, stop } = await startServer(slowApp(0).app, 0);
  const startedAt = performance.now();
  const answer = await exchange(port, 'GET / HTTP/1.1\r\nHost: pay.example.com\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  expect(bodyOf(answer).error).toMatchObject({ code: 'request_timeout' });
  // Not before; how much later is the machine's matter.
  expect(performance.now() - startedAt).toBeGreaterThan(9_500);
  await stop();
});

function requestIdOf(answer: string): string {
  return /\r\nX-Request-Id: (req_[0-9A-Z]{26})\r\n/i.exec(answer)?.[1] ?? 'no request id';
}

function bodyOf(answer: string): { error: object } {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  expect(answer).toContain(`Content-Length: ${body.length}\r\n`);
  return JSON.parse(body) as { error: object };
}

describe('stopping', () => {
  it('answers the requests that run and takes no more', async () => {
    const { app, arrived } = slowApp(300);
    const { port, stop } = await start(app);
    const url = `http://127.0.0.1:${port}/`;
    const answering = fetch(url);
    await arrived;
    const stopped = stop();
    await expect(fetch(url)).rejects.toThrow();
    expect(await (await answering).json()).toEqual({ done: true });
    await stopped;
  });

  it('does not wait for connections that are only kept alive', async () => {
    const { app, arrived } = slowApp(10_000);
    const [idle, busy] = [await start(slowApp(0).app), await start(app)];
    await (await fetch(`http://127.0.0.1:${idle.port}/`)).json();
    const cut = expect(fetch(`http://127.0.0.1:${busy.port}/`)).rejects.toThrow();
    await arrived;
    const stops = [busy.stop().then(() => 'busy'), idle.stop().then(() => 'idle')];
    expect(await Promise.race(stops)).toBe('idle');
    await Promise.all([cut, ...stops]);
  });

  it('cuts what takes longer than 1.5 seconds, and may be asked for twice', async () => {
    const { app, arrived } = slowApp(10_000);
    const { port, stop } = await start(app);
    const cut = expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    await arrived;
    await Promise.all([stop(), stop()]);
    await cut;
    await stop();
  });
});

describe('a port that is in use', () => {
  it('is told in a sentence', async () => {
    const { port } = await start(slowApp(0).app);
    const second = startServer(slowApp(0).app, port);
    await expect(second).rejects.toThrow(SetupError);
    await expect(second).rejects.toThrow(`Port ${port} is in use`);
  });
});
