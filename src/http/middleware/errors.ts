/**
 * The only writer of error bodies (decision W5). A refusal becomes the envelope; everything else
 * is our fault: 500, with the stack in the log and nothing of it on the wire.
 */
import type { Logger } from 'pino';
import { ApiError, type ErrorCode } from '../../domain/errors';
import { type GatewayMiddleware, routePattern } from '../context';

/** Headers of a code, unless the thrower gave its own (decisions W4, W9). */
const HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  authentication_required: { 'WWW-Authenticate': 'Bearer' },
  invalid_api_key: { 'WWW-Authenticate': 'Bearer' },
  request_in_progress: { 'Retry-After': '1' },
  service_unavailable: { 'Retry-After': '10' },
  rate_limited: { 'Retry-After': '60' },
};

export function writeErrors(logger: Logger): GatewayMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const refusal =
        thrown instanceof ApiError ? thrown : new ApiError({ code: 'internal_error' });
      if (refusal !== thrown) {
        const where = { request_id: ctx.state.requestId, route: routePattern(ctx) };
        logger.error({ err: thrown, ...where }, 'request failed');
      }
      ctx.set({ ...HEADERS[refusal.code], ...refusal.headers });
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

/**
 * What no route took: 405 when the path exists for other methods, else 404. Neither needs a key,
 * as neither tells anything that the documentation does not.
 */
export const refuseUnknownPath: GatewayMiddleware = (ctx) => {
  const matched = (ctx.matched ?? []) as { methods: string[] }[];
  const allowed = [...new Set(matched.flatMap((layer) => layer.methods))].sort();
  if (allowed.length === 0) {
    throw new ApiError({ code: 'not_found', details: { resource: 'endpoint' } });
  }
  throw new ApiError(
    { code: 'method_not_allowed', details: { allowed } },
    { Allow: allowed.join(', ') },
  );
};
