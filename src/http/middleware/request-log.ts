/**
 * The id of a request, and its line in the log. The path, the query and the body stay out of it: they carry references,
 * addresses and cursors; the route's pattern says what was asked.
 */
import type { Logger } from 'pino';
import { newId } from '../../lib/new-id';
import { type GatewayMiddleware, type GatewayState, routePattern } from '../context';

/** An id that the client sent is logged beside ours, as much of it as an honest one has. */
const CLIENT_ID_LENGTH = 128;

/** Gives every answer an X-Request-Id of ours (decision W4). First in the list. */
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
    // Nobody when the request was refused before it was authenticated, or needs no key.
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
