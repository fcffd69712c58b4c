/** The logos of merchants at public paths. A path has the hash of its content, so browsers keep it for ever. */
import type { Middleware } from 'koa';
import { findLogo } from '../../db/accounts/logos';
import type { Db } from '../../db/transaction';

const PATH = /^\/logos\/([0-9a-f]{64})$/;

export function serveLogos(db: Db): Middleware {
  return async (ctx, next) => {
    const [, sha256] = PATH.exec(ctx.path) ?? [];
    if (sha256 === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD'))
      return next() as Promise<void>;
    const logo = await findLogo(db, sha256);
    if (logo === null) return next() as Promise<void>;
    ctx.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'",
      // The checkout page of the on-chain provider is on another site.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
      'Content-Type': logo.type,
    });
    ctx.body = logo.content;
  };
}
