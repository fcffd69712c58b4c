/**
 * What an API key may do (the specification, "Scopes"; decisions/webhooks#events-list, decisions/payouts#recipients,
 * decisions/payments#refunds-to-address, decisions/webhooks#webhooks-by-api, decisions/keys#keys-by-api, decisions/api#request-log).
 */
export const SCOPES = [
  'payments:write',
  'payments:read',
  'refunds:write',
  'payouts:write',
  'payouts:read',
  'recipients:write',
  'recipients:read',
  'balance:read',
  'events:read',
  'webhooks:write',
  'webhooks:read',
  'api_keys:write',
  'api_keys:read',
  'request_logs:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Sets of scopes that fit a purpose, for the form of a new key. */
export const SCOPE_PRESETS: Readonly<Record<string, readonly Scope[]>> = {
  'Accept payments': ['payments:write', 'payments:read', 'refunds:write'],
  'Send payouts': ['payouts:write', 'payouts:read', 'recipients:read', 'balance:read'],
  'Read only': SCOPES.filter((scope) => scope.endsWith(':read')),
  'Full access': SCOPES,
};
