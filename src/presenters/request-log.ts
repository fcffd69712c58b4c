/** Requests to the API in responses of the API. */
import type { LoggedRequest } from '../db/repositories/request-log';
import type { RequestLogObject } from '../schemas/request-logs';

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
