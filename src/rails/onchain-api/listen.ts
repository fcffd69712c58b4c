/** The HTTP server of a program that serves the on-chain provider's API. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';

export interface HttpServer {
  /** `http://127.0.0.1:3002` */
  url: string;
  port: number;
  /** Requests under way are answered first, unless their connections are cut. */
  stop(connections?: 'cut'): Promise<void>;
}

interface Listening {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  onError: (error: Error) => void;
}

/** @param parts routers and middleware, in their order; /healthz comes after them all */
export async function listen(
  { host, port, onError }: Listening,
  parts: readonly (Router | Middleware)[],
): Promise<HttpServer> {
  const app = new Koa();
  app.on('error', onError);
  const health = new Router();
  health.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  for (const part of parts) app.use(part instanceof Router ? part.routes() : part);
  app.use(health.routes());

  const handle = app.callback();
  const server = createServer((request, response) => {
    // Koa answers every failure itself; its promise never rejects.
    void handle(request, response);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${String(bound)}`,
    port: bound,
    stop: async (connections) => {
      const closed = once(server, 'close');
      server.close();
      if (connections === 'cut') server.closeAllConnections();
      else server.closeIdleConnections();
      await closed;
    },
  };
}
