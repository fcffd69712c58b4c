/**
 * The error bodies (decisions/api#errors); shell/api/server.ts sends them to what is not a request. An ApiError
 * becomes the error envelope. PostgreSQL that is away for a while is 503. Everything else is an internal
 * error: 500. Both are in the log with the stack, and have no details in the response.
 */
import type { Logger } from 'pino';
import { ApiError, endsByWaiting, type ErrorCode, unavailableReason } from '../../domain/errors';
import { errorPagePath } from './error-bodies';
import { isOwnHost } from '../../platform/lib/own-host';
import { isUnavailable } from '../../platform/lib/unavailable';
import { type GatewayMiddleware, type GatewayState, routePattern } from './context';

/**
 * The headers of a code, unless the error has its own (decisions/api#request-ids and decisions/api#retry-after).
 */
const HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  authentication_required: { 'WWW-Authenticate': 'Bearer' },
  invalid_api_key: { 'WWW-Authenticate': 'Bearer' },
  request_in_progress: { 'Retry-After': '1' },
  service_unavailable: { 'Retry-After': '10' },
  rate_limited: { 'Retry-After': '60' },
};

/** @param publicUrl of the documentation; a private port has none */
export function writeErrors(logger: Logger, publicUrl?: string): GatewayMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const refusal = thrown instanceof ApiError ? thrown : refusalOf(thrown);
      if (refusal !== thrown) {
        const { requestId, caller } = ctx.state as Partial<GatewayState>;
        const where = { request_id: requestId, route: routePattern(ctx) };
        const who = caller === undefined ? {} : { account_id: caller.accountId, mode: caller.mode };
        logger.error({ err: thrown, ...where, ...who }, 'request failed');
      }
      const headers = endsByWaiting(refusal) ? HEADERS[refusal.code] : {};
      ctx.set({ ...headers, ...refusal.headers });
      ctx.state.errorCode = refusal.code;
      ctx.state.errorReason = unavailableReason(refusal);
      ctx.status = refusal.status;
      ctx.body = errorBody(refusal, ctx.state.requestId, publicUrl);
    }
  };
}

function refusalOf(fault: unknown): ApiError {
  return isUnavailable(fault)
    ? new ApiError({
        code: 'service_unavailable',
        details: { reason: 'database_unavailable' },
      })
    : new ApiError({ code: 'internal_error' });
}

/** The error envelope (decisions/api#errors). */
export function errorBody(
  { code, message, details }: ApiError,
  requestId: string,
  publicUrl?: string,
): object {
  return {
    error: {
      code,
      message,
      ...(details === undefined ? {} : { details }),
      request_id: requestId,
      ...(publicUrl === undefined ? {} : { doc_url: publicUrl + errorPagePath(code) }),
    },
  };
}

/** Requests that Node would otherwise answer by itself, without our envelope (decisions/api#errors). */
export const refuseInvalidHttp: GatewayMiddleware = async ({ req }, next) => {
  const hosts = req.headersDistinct['host'] ?? [];
  const isMissing = hosts.length === 0 && req.httpVersion !== '1.0';
  if (isMissing || hosts.length > 1) throw new ApiError({ code: 'invalid_request' });
  const { expect } = req.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new ApiError({ code: 'expectation_failed' });
  }
  await next();
};

/** In development, a website whose name leads to this machine (DNS rebinding) gets nothing. */
export function refuseForeignHosts(publicUrl: string): GatewayMiddleware {
  return async ({ req }, next) => {
    if (!isOwnHost(req.headers.host, publicUrl)) {
      throw new ApiError({
        code: 'invalid_request',
        message: 'This is a development server. Use the host name localhost, or set PUBLIC_URL.',
      });
    }
    await next();
  };
}

/**
 * For requests without a route: 405 if the path has other methods, otherwise 404. Neither needs a
 * key, because both reveal only what is documented.
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
