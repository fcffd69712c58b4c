/**
 * Who calls, and how often (decisions A4, W10–W12). Puts the caller on the state. The RateLimit
 * headers are set before anything can refuse the request, so that they are on errors too.
 */
import { ApiError } from '../../domain/errors';
import type { Authentication } from '../../services/services';
import { clientAddress } from '../client-address';
import type { GatewayMiddleware } from '../context';

export function authenticate(
  authentication: Authentication,
  trustedProxyHops: number,
): GatewayMiddleware {
  return async (ctx, next) => {
    // Answers belong to one key; no cache on the way may keep them.
    ctx.set('Cache-Control', 'no-store');
    const address = clientAddress(
      ctx.req.socket.remoteAddress,
      ctx.get('X-Forwarded-For'),
      trustedProxyHops,
    );
    const { caller, rate, exceeded } = await acceptKey(ctx.get('Authorization'), address);
    ctx.state.caller = caller;
    ctx.set({
      'RateLimit-Limit': String(rate.limit),
      'RateLimit-Remaining': String(rate.remaining),
      'RateLimit-Reset': String(rate.resetSeconds),
    });
    if (exceeded) {
      const headers = { 'Retry-After': String(rate.resetSeconds) };
      throw new ApiError('rate_limited', { limit_per_minute: rate.limit }, { headers });
    }
    await next();
  };

  async function acceptKey(header: string, address: string) {
    try {
      return await authentication.authenticate(header === '' ? undefined : header, address);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        throw new ApiError(error.code, error.details, {
          message: error.message,
          headers: { ...error.headers, 'WWW-Authenticate': 'Bearer' },
        });
      }
      throw error;
    }
  }
}
