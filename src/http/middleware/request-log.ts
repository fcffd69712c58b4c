/**
 * The id of a request, and its log line. Path, query and body are not logged, because they contain
 * references, addresses and cursors; the route's pattern is logged instead.
 */
import type { Logger } from 'pino';
import { newId } from '../../lib/new-id';
import { type GatewayMiddleware, type GatewayState, routePattern } from '../context';

/** The client's own request id is also logged, up to this length. */
const CLIENT_ID_LENGTH = 128;

/** Adds our X-Request-Id to every response (decision W4). Must be the first middleware. */
export const setRequestId: GatewayMiddleware = async (ctx, next) => {
  ctx.state.requestId = newId('request');
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};

export function logRequests(logger: Logger): GatewayMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const clientId = ctx.get('X-Request-Id').slice(0, CLIENT_ID_LENGTH);
    // Undefined if the request was refused before authentication, or needs no key.
    const { caller } = ctx.state as Partial<GatewayState>;
    logger.info(
      {
        request_id: ctx.state.requestId,
        ...(clientId === '' ? {} : { client_request_id: clientId }),
        method: ctx.method,
        route: routePattern(ctx),
        status: ctx.status,
        ms: Math.round(performance.now() - startedAt),
        ...(caller === undefined ? {} : { account_id: caller.accountId, mode: caller.mode }),
      },
      'request',
    );
  };
}
