/** The log of API requests on the wire (decisions/api#request-log). */
import { type Static, Type } from 'typebox';
import { Id, ModeName, OrNull, Shape, Timestamp } from '../../kit/api/common';
import { idOf, listed, listQueryOf, shown, operations } from '../../kit/api/operation';
import { CREATED, matching, oneOf, type Query, readListQuery } from '../../kit/api/query';
import type { LoggedRequest } from '../../db/request-log/request-log';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

const FILTERS = {
  status: matching(/^[1-5](xx|[0-9]{2})$/, 'An HTTP status such as 422, or a class such as 4xx'),
  method: oneOf(METHODS),
  path: matching(/^\/[\x21-\x7e]{0,199}$/, 'The beginning of the path, such as /api/v1/payouts'),
  ...CREATED,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readRequestLogQuery(query: Query) {
  return readListQuery(FILTERS, query);
}

/** A request of the log (decisions/api#request-log). */
export const RequestLogObject = Shape(
  {
    id: Id('request'),
    object: Type.Literal('request_log'),
    mode: ModeName,
    api_key_id: Type.String({ description: 'The ID of the API key' }),
    method: Type.String({ description: 'The HTTP method' }),
    path: Type.String({ description: 'The path' }),
    query: Type.String({
      description: 'The query without its question mark; empty if there is none',
    }),
    status: Type.Integer({ description: 'The HTTP status of the response' }),
    replayed: Type.Boolean({
      description: 'Whether the response was the stored one of an earlier request',
    }),
    idempotency_key: OrNull(Type.String(), 'The Idempotency-Key, if there was one'),
    ip_address: Type.String({ description: 'Where the request came from' }),
    user_agent: Type.String({ description: 'The User-Agent header; empty if there is none' }),
    duration_ms: Type.Integer({ description: 'How long the gateway took' }),
    request_body: OrNull(
      Type.String(),
      'The first 4 KiB as text, without secrets; null if there is none',
    ),
    response_body: OrNull(
      Type.String(),
      'The first 4 KiB of the response as text, without secrets and with the first rows of a list; null for a file',
    ),
    created_at: Timestamp('The time of the request'),
  },
  'A request to the API',
);
export type RequestLogObject = Static<typeof RequestLogObject>;

const EXAMPLE: RequestLogObject = {
  id: 'req_01M7YESA634WQFACSBWYSTKM76',
  object: 'request_log',
  mode: 'test',
  api_key_id: 'key_01M7YESA6JGXFEX3057F2JK1YJ',
  method: 'POST',
  path: '/api/v1/payouts',
  query: '',
  status: 422,
  replayed: false,
  idempotency_key: 'invoice-2031',
  ip_address: '203.0.113.7',
  user_agent: 'shop/1.0',
  duration_ms: 12,
  request_body: '{"amount":"-1","currency":"USDT","reference":"invoice-2031"}',
  response_body: '{"error":{"code":"validation_failed"}}',
  created_at: '2026-11-21T07:05:30.632Z',
};

const KEPT =
  'An entry appears about a second after its response and is kept for 7 days. Secrets are removed, and long texts are shortened.';

/** The operations of /request_logs. */
export const REQUEST_LOG_OPERATIONS = operations([
  {
    id: 'listRequestLogs',
    method: 'get',
    path: '/request_logs',
    tag: 'Request log',
    summary: 'List requests',
    description: `Returns the requests of all API keys of the account in the mode of the key, newest first. ${KEPT} Requests to read this log are in it only if they were refused.`,
    scope: 'request_logs:read',
    parameters: listQueryOf(FILTERS),
    success: listed(RequestLogObject, '/request_logs', [EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getRequestLog',
    method: 'get',
    path: '/request_logs/{id}',
    tag: 'Request log',
    summary: 'Retrieve a request',
    description: `Returns one request by the ID in its X-Request-Id header. ${KEPT}`,
    scope: 'request_logs:read',
    parameters: [idOf('request')],
    success: shown(RequestLogObject, EXAMPLE),
    errors: ['not_found'],
  },
]);

/** Requests to the API in responses of the API. */

export function presentRequest(request: LoggedRequest): RequestLogObject {
  return {
    id: request.id,
    object: 'request_log',
    mode: request.mode,
    api_key_id: request.apiKeyId,
    method: request.method,
    path: request.path,
    query: request.query,
    status: request.status,
    replayed: request.replayed,
    idempotency_key: request.idempotencyKey,
    ip_address: request.address,
    user_agent: request.userAgent,
    duration_ms: request.durationMs,
    request_body: request.requestBody,
    response_body: request.responseBody,
    created_at: request.at.toISOString(),
  };
}
