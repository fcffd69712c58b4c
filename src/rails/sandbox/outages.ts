/**
 * The ways in which a server fails to answer, and the outages that make a whole provider do so. An
 * outage affects the provider's API only: transfers accepted before continue, and callbacks are
 * sent.
 */
import type { Context, Middleware } from 'koa';
import type { BookMode, ProviderName } from './config';

/**
 * `refuse` closes the connection, as near as one port comes to refusing it; `lose_answer` carries out
 * the request first.
 */
export const OUTAGE_KINDS = ['answer_503', 'answer_429', 'hang', 'refuse', 'lose_answer'] as const;
export type OutageKind = (typeof OUTAGE_KINDS)[number];

/** Never answers. The connection lives until the client gives up or the sandbox stops. */
export function hang(ctx: Context): void {
  ctx.respond = false;
}

export function resetConnection(ctx: Context): void {
  ctx.respond = false;
  ctx.req.socket.resetAndDestroy();
}

export class Outages {
  private readonly kinds = new Map<string, OutageKind>();

  set(provider: ProviderName, mode: BookMode, kind: OutageKind | null): void {
    if (kind === null) this.kinds.delete(`${provider}/${mode}`);
    else this.kinds.set(`${provider}/${mode}`, kind);
  }

  get(provider: ProviderName, mode: BookMode): OutageKind | null {
    return this.kinds.get(`${provider}/${mode}`) ?? null;
  }

  /** Runs after authentication, because the key determines the mode. */
  middleware(provider: ProviderName): Middleware {
    return async (ctx, next) => {
      switch (this.get(provider, readBookMode(ctx))) {
        case null:
          await next();
          return;
        case 'answer_503':
          // The answer is not in the provider's own format, because in an outage a proxy answers.
          ctx.status = 503;
          ctx.body = '<html><body>503 Service Unavailable</body></html>';
          return;
        case 'answer_429':
          ctx.status = 429;
          ctx.set('Retry-After', '1');
          ctx.body = { error: { code: 'rate_limited' } };
          return;
        case 'hang':
          hang(ctx);
          return;
        case 'lose_answer':
          await next();
          resetConnection(ctx);
          return;
        case 'refuse':
          resetConnection(ctx);
      }
    };
  }
}

/** Written by each API's authentication. */
export function readBookMode(ctx: Context): BookMode {
  return ctx.state.mode as BookMode;
}
