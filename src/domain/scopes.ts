/** What an API key may do (the specification, "Scopes"). */
export const SCOPES = [
  'payments:write',
  'payments:read',
  'payouts:write',
  'payouts:read',
  'balance:read',
] as const;
export type Scope = (typeof SCOPES)[number];
