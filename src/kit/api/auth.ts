/**
 * Authentication, rate limit, scope and the account's turn (decisions/keys#api-keys, decisions/api#rate-limit,
 * decisions/api#client-address, decisions/api#order-of-checks and decisions/api#fair-share). Stores the caller on the
 * state. The RateLimit headers are set before the request can be refused, so that errors have them too.
 */
import { ApiError } from '../../domain/errors';
import type { Scope } from '../../domain/scopes';
import type { AccountTurns } from '../service/account-turns';
import type { Authentication, Caller } from '../service/services';
import { clientAddress } from '../../platform/lib/client-address';
import type { GatewayContext, GatewayMiddleware } from './context';

/** The middleware of a route. Null: any valid key is accepted. */
export type Auth = (scope: Scope | null) => GatewayMiddleware;

/**
 * Requests with this scope may wait for an event and take no turn; src/features/webhooks/event-waits.ts limits
 * how many wait.
 */
const WAITS: Scope = 'events:read';

export function createAuth(
  authentication: Authentication,
  turns: AccountTurns,
  trustedProxyHops: number,
): Auth {
  return (scope) => async (ctx, next) => {
    // Responses belong to one key and must not be cached.
    ctx.set('Cache-Control', 'no-store');
    const { caller, rate, exceeded } = await recognize(ctx, authentication, trustedProxyHops);
    if (exceeded) {
      const details = { limit_per_minute: rate.limit };
      const headers = { 'Retry-After': String(rate.resetSeconds) };
      throw new ApiError({ code: 'rate_limited', details }, headers);
    }
    if (scope !== null) requireScope(caller, scope);
    await (scope === WAITS ? next() : turns.run(caller, next));
  };
}

/** Stores the caller of the key. @throws ApiError when the key is not accepted */
async function recognize(
  ctx: GatewayContext,
  authentication: Authentication,
  trustedProxyHops: number,
): ReturnType<Authentication['authenticate']> {
  const address = clientAddress(
    ctx.req.socket.remoteAddress,
    ctx.get('X-Forwarded-For'),
    trustedProxyHops,
  );
  const recognized = await authentication.authenticate(ctx.get('Authorization'), address);
  const { caller, rate } = recognized;
  ctx.state.caller = caller;
  ctx.state.address = address;
  ctx.set({
    'RateLimit-Limit': String(rate.limit),
    'RateLimit-Remaining': String(rate.remaining),
    'RateLimit-Reset': String(rate.resetSeconds),
  });
  return recognized;
}

/**
 * Recognizes the caller of an unknown path, so that the account's log shows the request. The status and the
 * body are the same with every key and without one.
 */
export function recognizeCaller(
  authentication: Authentication,
  trustedProxyHops: number,
): GatewayMiddleware {
  return async (ctx, next) => {
    if (ctx.path.startsWith('/api/') && ctx.get('Authorization') !== '') {
      try {
        await recognize(ctx, authentication, trustedProxyHops);
      } catch {
        // A request without an accepted key is not logged, because the log belongs to an account.
      }
    }
    await next();
  };
}

/** Requires the second scope that some requests of a route need. @throws ApiError insufficient_scope */
export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new ApiError({ code: 'insufficient_scope', details: { required_scope: scope } });
}
