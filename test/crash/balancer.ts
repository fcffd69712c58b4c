/**
 * A load balancer as small as one can be: it asks each backend what HAProxy of docker-compose.yml asks, sends
 * each request to the next one that takes requests over kept-alive connections, and repeats nothing.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'undici';

export interface Balancer {
  url: string;
  /** How many backends are ready. */
  ready(): number;
  stop(): Promise<void>;
}

const CHECK_MS = 200;
const HAPROXY = readFileSync(join(__dirname, '../../deploy/compose/haproxy.cfg'), 'utf8');
const [, CHECKED = 'none'] = /option httpchk GET (\S+)/.exec(HAPROXY) ?? [];

export async function startBalancer(origins: readonly string[]): Promise<Balancer> {
  const backends = origins.map((origin) => ({ pool: new Pool(origin), isReady: false }));
  const checks = setInterval(() => {
    for (const backend of backends) {
      backend.pool.request({ method: 'GET', path: CHECKED }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          backend.isReady = statusCode === 200;
        },
        () => (backend.isReady = false),
      );
    }
  }, CHECK_MS);
  let turn = 0;
  const server = createServer((request, response) => {
    const ready = backends.filter(({ isReady }) => isReady);
    const backend = ready[turn++ % ready.length];
    const { method = 'GET', url = '/' } = request;
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = async (): Promise<void> => {
      if (backend === undefined) throw new Error('no backend is ready');
      const sent = method === 'GET' ? null : await buffer(request);
      const { pool } = backend;
      const received = await pool.request({ method, path: url, headers, body: sent });
      const { connection: ___, 'transfer-encoding': ____, ...own } = received.headers;
      response.writeHead(received.statusCode, own).end(await received.body.text());
    };
    answer().catch((error: unknown) => {
      const message = `bad gateway: ${String(error)}`;
      response.writeHead(502).end(JSON.stringify({ error: { code: 'bad_gateway', message } }));
    });
  });
  // As long as HAProxy's timeouts: a client that sends on a connection that closes meanwhile gets an error.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => backends.filter(({ isReady }) => isReady).length,
    stop: async () => {
      clearInterval(checks);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await Promise.all(backends.map(({ pool }) => pool.destroy()));
    },
  };
}
