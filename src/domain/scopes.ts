/** What an API key may do (the specification, "Scopes"; `events:read` is decisions/events-list). */
export const SCOPES = [
  'payments:write',
  'payments:read',
  'payouts:write',
  'payouts:read',
  'balance:read',
  'events:read',
] as const;
export type Scope = (typeof SCOPES)[number];
