/**
 * The wallet's HTTP server: the API of an on-chain provider at /v1 (docs/onchain-provider.md), with a
 * bearer key for each mode; pages for customers; /healthz. All errors of the API are written here.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { WalletConfig } from '../config';
import { WALLET_MODES } from '../networks';
import { HttpRefusal } from './answers';

export interface HttpServer {
  /** `http://127.0.0.1:3002` */
  url: string;
  stop(): Promise<void>;
}

interface Routes {
  /** Adds routes below /v1, behind the authentication. */
  api: ((router: Router) => void)[];
  /** Without authentication: pages and their forms. */
  pages: Router[];
}

export async function startHttpServer(config: WalletConfig, routes: Routes): Promise<HttpServer> {
  const app = new Koa();
  app.on('error', (error: Error) => {
    config.log('error', 'request failed', { error: error.message });
  });
  const health = new Router();
  health.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  const api = new Router({ prefix: '/v1' });
  api.use(answerErrors(), authenticate(config), parseBody());
  for (const add of routes.api) add(api);
  for (const router of [health, api, ...routes.pages]) app.use(router.routes());

  const handle = app.callback();
  const server = createServer((request, response) => {
    // Koa answers every failure itself; its promise never rejects.
    void handle(request, response);
  });
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host;
  return { url: `http://${host}:${String(port)}`, stop: () => close(server) };
}

function answerErrors(): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const refusal =
        error instanceof HttpRefusal
          ? error
          : new HttpRefusal(500, 'internal_error', 'The wallet could not answer the request.');
      if (refusal !== error) ctx.app.emit('error', error, ctx);
      ctx.status = refusal.status;
      ctx.body = { error: { code: refusal.code, message: refusal.message } };
    }
  };
}

function authenticate({ credentials }: WalletConfig): Middleware {
  return async (ctx, next) => {
    const key = /^Bearer (\S+)$/.exec(ctx.get('authorization'))?.[1] ?? '';
    const mode = WALLET_MODES.find((one) => {
      const expected = credentials[one]?.apiKey;
      return expected !== undefined && isSameSecret(key, expected);
    });
    if (mode === undefined) {
      throw new HttpRefusal(401, 'unauthorized', 'The API key is missing or invalid.');
    }
    ctx.state.mode = mode;
    await next();
  };
}

function parseBody(): Middleware {
  return bodyParser({
    enableTypes: ['json'],
    onerror: () => {
      throw new HttpRefusal(400, 'malformed_request', 'The body is not valid JSON.');
    },
  });
}

/** Compares two secrets in a time that does not depend on where they differ. */
function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
