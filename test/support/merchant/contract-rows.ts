/**
 * The specification's tables as data: endpoints, scopes, errors, limits, idempotency. For each row
 * at least one test shows that the gateway keeps it, and carries the row's tag in its title;
 * test/unit/contract-coverage.test.ts holds the two against each other.
 */

/** What is not built yet. Its rows are counted once the part is taken out of `MISSING_PARTS`. */
export type Part = 'payments' | 'webhooks';
export const MISSING_PARTS: readonly Part[] = [];

interface Row {
  part?: Part;
}

export interface EndpointRow extends Row {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below /api/v1. */
  path: string;
  /** Null: any valid key. */
  scope: string | null;
}

/** The specification, "Endpoints". */
export const ENDPOINTS: readonly EndpointRow[] = [
  { method: 'POST', path: '/payments', scope: 'payments:write', part: 'payments' },
  { method: 'GET', path: '/payments', scope: 'payments:read', part: 'payments' },
  { method: 'GET', path: '/payments/{id}', scope: 'payments:read', part: 'payments' },
  { method: 'POST', path: '/payments/{id}/verify', scope: 'payments:write', part: 'payments' },
  { method: 'POST', path: '/payouts', scope: 'payouts:write' },
  { method: 'GET', path: '/payouts', scope: 'payouts:read' },
  { method: 'GET', path: '/payouts/{id}', scope: 'payouts:read' },
  { method: 'POST', path: '/payouts/{id}/cancel', scope: 'payouts:write' },
  { method: 'GET', path: '/balance', scope: 'balance:read' },
  { method: 'GET', path: '/transactions', scope: 'payments:read' },
  { method: 'GET', path: '/fees', scope: null },
  { method: 'GET', path: '/fees/quote', scope: null },
  { method: 'GET', path: '/currencies', scope: null },
  // In addition to the specification (decisions/webhooks#events-list, decisions/payouts#payout-batches,
  // decisions/payouts#recipients, decisions/payments#refunds, decisions/payouts#payout-conditions).
  { method: 'GET', path: '/events', scope: 'events:read' },
  { method: 'GET', path: '/events/{id}', scope: 'events:read' },
  { method: 'GET', path: '/transactions/{id}', scope: 'payments:read' },
  { method: 'GET', path: '/exports', scope: 'payments:read' },
  { method: 'POST', path: '/reconciliations', scope: 'payments:read' },
  { method: 'GET', path: '/payouts/{id}/dossier', scope: 'payouts:read' },
  { method: 'POST', path: '/payouts/{id}/release', scope: 'payouts:write' },
  { method: 'POST', path: '/payments/{id}/cancel', scope: 'payments:write' },
  { method: 'POST', path: '/payments/{id}/refunds', scope: 'payments:write' },
  { method: 'GET', path: '/payments/{id}/refunds', scope: 'payments:read' },
  { method: 'GET', path: '/refunds', scope: 'payments:read' },
  { method: 'GET', path: '/refunds/{id}', scope: 'payments:read' },
  { method: 'POST', path: '/refunds/{id}/cancel', scope: 'payments:write' },
  { method: 'POST', path: '/payout_batches', scope: 'payouts:write' },
  { method: 'GET', path: '/payout_batches', scope: 'payouts:read' },
  { method: 'GET', path: '/payout_batches/{id}', scope: 'payouts:read' },
  { method: 'GET', path: '/payout_batches/{id}/proof', scope: 'payouts:read' },
  { method: 'POST', path: '/payout_batches/{id}/stop', scope: 'payouts:write' },
  { method: 'POST', path: '/payout_schedules', scope: 'payouts:write' },
  { method: 'GET', path: '/payout_schedules', scope: 'payouts:read' },
  { method: 'GET', path: '/payout_schedules/{id}', scope: 'payouts:read' },
  { method: 'GET', path: '/payout_schedules/{id}/runs', scope: 'payouts:read' },
  { method: 'POST', path: '/payout_schedules/{id}/pause', scope: 'payouts:write' },
  { method: 'POST', path: '/payout_schedules/{id}/resume', scope: 'payouts:write' },
  { method: 'POST', path: '/payout_schedules/{id}/end', scope: 'payouts:write' },
  { method: 'POST', path: '/recipients', scope: 'recipients:write' },
  { method: 'GET', path: '/recipients', scope: 'recipients:read' },
  { method: 'GET', path: '/recipients/{id}', scope: 'recipients:read' },
  { method: 'PATCH', path: '/recipients/{id}', scope: 'recipients:write' },
  { method: 'DELETE', path: '/recipients/{id}', scope: 'recipients:write' },
  { method: 'POST', path: '/payout_batches/{id}/leave_out', scope: 'payouts:write' },
  { method: 'POST', path: '/api_keys', scope: 'api_keys:write' },
  { method: 'GET', path: '/api_keys', scope: 'api_keys:read' },
  { method: 'GET', path: '/api_keys/{id}', scope: 'api_keys:read' },
  { method: 'POST', path: '/api_keys/{id}/roll', scope: 'api_keys:write' },
  { method: 'POST', path: '/api_keys/{id}/revoke', scope: 'api_keys:write' },
  { method: 'POST', path: '/webhook_endpoints', scope: 'webhooks:write' },
  { method: 'GET', path: '/webhook_endpoints', scope: 'webhooks:read' },
  { method: 'GET', path: '/webhook_endpoints/{id}', scope: 'webhooks:read' },
  { method: 'PATCH', path: '/webhook_endpoints/{id}', scope: 'webhooks:write' },
  { method: 'DELETE', path: '/webhook_endpoints/{id}', scope: 'webhooks:write' },
  { method: 'POST', path: '/webhook_endpoints/{id}/roll', scope: 'webhooks:write' },
  { method: 'POST', path: '/webhook_endpoints/{id}/ping', scope: 'webhooks:write' },
  { method: 'GET', path: '/webhook_endpoints/{id}/deliveries', scope: 'webhooks:read' },
  { method: 'GET', path: '/webhook_deliveries/{id}', scope: 'webhooks:read' },
  { method: 'POST', path: '/webhook_deliveries/{id}/resend', scope: 'webhooks:write' },
  { method: 'GET', path: '/request_logs', scope: 'request_logs:read' },
  { method: 'GET', path: '/request_logs/{id}', scope: 'request_logs:read' },
];

/** The specification, "Errors". */
const ERROR_ROWS: readonly (Row & { status: number; code: string })[] = [
  { status: 401, code: 'authentication_required' },
  { status: 401, code: 'invalid_api_key' },
  { status: 403, code: 'ip_not_allowed' },
  { status: 403, code: 'insufficient_scope' },
  { status: 403, code: 'account_suspended' },
  { status: 409, code: 'invalid_state' },
  { status: 409, code: 'duplicate_reference' },
  { status: 409, code: 'request_in_progress' },
  { status: 422, code: 'idempotency_key_reused' },
  { status: 422, code: 'insufficient_balance' },
  { status: 422, code: 'destination_not_supported' },
  { status: 422, code: 'network_required' },
  { status: 422, code: 'limit_exceeded' },
  { status: 429, code: 'rate_limited' },
  { status: 503, code: 'service_unavailable' },
];

/** The specification, "Limits". */
const LIMIT_ROWS: readonly (Row & { limit: string })[] = [
  { limit: 'request rate' },
  { limit: 'verify rate', part: 'payments' },
  { limit: 'page size' },
  { limit: 'Idempotency-Key' },
  { limit: 'idempotency storage' },
  { limit: 'reference' },
  { limit: 'destination.memo' },
  { limit: 'description' },
  { limit: 'metadata' },
  { limit: 'webhook response time', part: 'webhooks' },
  { limit: 'webhook timestamp tolerance', part: 'webhooks' },
  { limit: 'webhook attempts', part: 'webhooks' },
  { limit: 'currency minimum and maximum amounts' },
];

/** The specification, "Idempotency rules". */
const IDEMPOTENCY_ROWS: readonly (Row & { situation: string })[] = [
  { situation: 'first request with a key' },
  { situation: 'same key, same body, after success' },
  { situation: 'same key, different body' },
  { situation: 'same key while the first is running' },
  { situation: 'first request failed' },
  { situation: 'key reused after 24 hours' },
];

/** The specification, "Scopes". */
const SCOPE_ROWS: readonly (Row & { scope: string })[] = [
  { scope: 'payments:write', part: 'payments' },
  { scope: 'payments:read' },
  { scope: 'payouts:write' },
  { scope: 'payouts:read' },
  { scope: 'balance:read' },
  { scope: 'any valid key' },
  { scope: 'events:read' },
];

/** What the titles of tests carry in brackets, for everything that the specification has. */
export const REQUIRED_TAGS: readonly string[] = [
  ...tags(ENDPOINTS, ({ method, path }) => `endpoint ${method} ${path}`),
  ...tags(SCOPE_ROWS, ({ scope }) => `scope ${scope}`),
  ...tags(ERROR_ROWS, ({ status, code }) => `error ${status} ${code}`),
  ...tags(LIMIT_ROWS, ({ limit }) => `limit ${limit}`),
  ...tags(IDEMPOTENCY_ROWS, ({ situation }) => `idempotency ${situation}`),
];

export function isBuilt({ part }: Row): boolean {
  return part === undefined || !MISSING_PARTS.includes(part);
}

function tags<T extends Row>(table: readonly T[], name: (row: T) => string): string[] {
  return table.filter(isBuilt).map(name);
}
