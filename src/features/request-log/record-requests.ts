/**
 * The id of a request, its log line, and its entry in the log of the merchant. Path, query and body are
 * not in the log line, because they contain references, addresses and cursors; the route's pattern is
 * logged instead. The merchant sees them on the dashboard.
 */
import { Stream } from 'node:stream';
import type { Logger } from 'pino';
import { newId } from '../../platform/lib/new-id';
import { redactEncoded } from './redaction';
import { LOGGED_BODY_BYTES_MAX, type RequestLog } from './request-log';
import { isId } from '../../domain/ids';
import {
  type GatewayContext,
  type GatewayMiddleware,
  type GatewayState,
  routePattern,
} from '../../kit/api/context';

/** The client's own request id is also logged, up to this length and without secrets. */
const CLIENT_ID_LENGTH = 128;

/**
 * Adds our X-Request-Id to every response (decisions/api#request-ids), and the header that keeps a browser from
 * taking it for something else. Must be the first middleware.
 */
export const setRequestId: GatewayMiddleware = async (ctx, next) => {
  ctx.state.requestId = newId('request');
  ctx.set({ 'X-Request-Id': ctx.state.requestId, 'X-Content-Type-Options': 'nosniff' });
  await next();
};

/** Tells browsers to use https only, in every answer. */
export const requireHttps: GatewayMiddleware = async (ctx, next) => {
  ctx.set('Strict-Transport-Security', 'max-age=31536000');
  await next();
};

/** Load balancers ask every two seconds: a line for each answer would be most of the log. */
const PROBES = ['/healthz', '/readyz', '/servingz'];

export function logRequests(logger: Logger): GatewayMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    if (ctx.status === 200 && PROBES.includes(ctx.path)) return;
    const clientId = ctx.get('X-Request-Id').slice(0, CLIENT_ID_LENGTH);
    const objectId = objectIdOf(ctx);
    // Undefined if the request was refused before authentication, or needs no key.
    const { caller, errorCode, errorReason } = ctx.state as Partial<GatewayState>;
    logger.info(
      {
        request_id: ctx.state.requestId,
        ...(clientId === '' ? {} : { client_request_id: redactEncoded(clientId) }),
        method: ctx.method,
        route: routePattern(ctx),
        status: ctx.status,
        ms: Math.round(performance.now() - startedAt),
        ...(errorCode === undefined ? {} : { error_code: errorCode }),
        ...(errorReason === undefined ? {} : { error_reason: errorReason }),
        ...(caller === undefined ? {} : { account_id: caller.accountId, mode: caller.mode }),
        ...(objectId === null ? {} : { object_id: objectId }),
      },
      'request',
    );
  };
}

/**
 * The start of the stored response about a new payout or payment, whose id is also that of its
 * workflow.
 */
const CREATED = /^\{"data":\{"id":"((?:po|pay)_[0-9A-Z]{26})"/;
const CREATED_BYTES = 60;

/** The object that the request created or that its path names. */
function objectIdOf(ctx: GatewayContext & { params?: Record<string, string> }): string | null {
  const body: unknown = ctx.body;
  if (ctx.status === 201 && (typeof body === 'string' || Buffer.isBuffer(body))) {
    return CREATED.exec(body.slice(0, CREATED_BYTES).toString())?.[1] ?? null;
  }
  const named = ctx.params?.['id'] ?? '';
  return isId('payout', named) || isId('payment', named) ? named : null;
}

/** A program that follows the log would fill it with its own requests. */
function isOfLog(ctx: GatewayContext): boolean {
  return /\/request_logs(\/|$)/.test(routePattern(ctx));
}

/** The number of rows of a list that the log keeps. */
const LOGGED_ROWS_MAX = 3;

/**
 * The part of an answer that the log keeps; nothing of a file. Lists are cut before the answer is written
 * as text.
 */
function answerOf(body: unknown): Buffer | object | null {
  if (typeof body === 'string') return Buffer.from(body.slice(0, LOGGED_BODY_BYTES_MAX));
  if (Buffer.isBuffer(body)) return Buffer.from(body.subarray(0, LOGGED_BODY_BYTES_MAX));
  if (typeof body !== 'object' || body === null || body instanceof Stream) return null;
  const { data } = body as { data?: unknown };
  return data === undefined ? body : { ...body, data: firstRows(data) };
}

function firstRows(data: unknown): unknown {
  const cut = (value: unknown) => (Array.isArray(value) ? value.slice(0, LOGGED_ROWS_MAX) : value);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return cut(data);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, cut(value)]));
}

/** Keeps requests with an accepted API key. The caller's answer does not wait for the log. */
export function keepRequests(log: RequestLog): GatewayMiddleware {
  return async (ctx, next) => {
    const at = new Date();
    const startedAt = performance.now();
    await next();
    const { caller, address = '' } = ctx.state as Partial<GatewayState>;
    if (caller === undefined || (isOfLog(ctx) && ctx.status < 400)) return;
    const sent: unknown = ctx.request.rawBody;
    log.add({
      id: ctx.state.requestId,
      accountId: caller.accountId,
      mode: caller.mode,
      apiKeyId: caller.apiKeyId,
      at,
      method: ctx.method,
      path: ctx.path,
      query: ctx.querystring,
      status: ctx.status,
      replayed: ctx.response.get('Idempotent-Replayed') === 'true',
      idempotencyKey: ctx.get('Idempotency-Key') || null,
      address,
      userAgent: ctx.get('User-Agent'),
      durationMs: Math.round(performance.now() - startedAt),
      // The part is copied, because it would otherwise keep the whole buffer in memory.
      requestBody:
        Buffer.isBuffer(sent) && sent.length > 0
          ? Buffer.from(sent.subarray(0, LOGGED_BODY_BYTES_MAX))
          : null,
      responseBody: answerOf(ctx.body),
    });
  };
}
