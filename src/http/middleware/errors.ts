/**
 * The only writer of error bodies (decision W5). A refusal becomes the envelope; everything else
 * is our fault: 500, with the stack in the log and nothing of it on the wire.
 */
import type { Logger } from 'pino';
import { ApiError, type ErrorCode } from '../../domain/errors';
import { type GatewayMiddleware, routePattern } from '../context';

/** Where the thrower gave no Retry-After of its own (decision W9). */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  request_in_progress: 1,
  service_unavailable: 10,
  rate_limited: 60,
};

export function writeErrors(logger: Logger): GatewayMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const refusal = thrown instanceof ApiError ? thrown : new ApiError('internal_error');
      if (refusal !== thrown) {
        const where = { request_id: ctx.state.requestId, route: routePattern(ctx) };
        logger.error({ err: thrown, ...where }, 'request failed');
      }
      const retryAfter = RETRY_AFTER_SECONDS[refusal.code];
      if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
      ctx.set(refusal.headers);
      ctx.status = refusal.status;
      ctx.body = {
        error: {
          code: refusal.code,
          message: refusal.message,
          ...(refusal.details === undefined ? {} : { details: refusal.details }),
          request_id: ctx.state.requestId,
        },
      };
    }
  };
}
