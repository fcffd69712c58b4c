/** Secrets and their hashes are read by the roles that need them. test/db/rights.test.ts has the list. */
export const sql = /* sql */ `
-- authenticate_api_key compares the hashes, as the owner. A new key is written and never read.
REVOKE SELECT ON api_keys FROM gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT SELECT (id, account_id, mode, name, pepper_id, display_prefix, last_four, scopes, allowlist,
              requests_per_minute, expires_at, revoked_at, created_at, last_used_at, last_used_address)
  ON api_keys TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- The admin command creates users and ends sessions; nobody signs in with it.
REVOKE SELECT ON users, sessions, recovery_codes FROM gateway_admin;
GRANT SELECT (id, kind, email, name, operator_role, disabled_at, last_sign_in_at, created_at)
  ON users TO gateway_admin;
GRANT SELECT (id, user_id, account_id, address, user_agent, created_at, last_seen_at, expires_at,
              revoked_at, authenticated_at) ON sessions TO gateway_admin;
GRANT SELECT (user_id, used_at, created_at) ON recovery_codes TO gateway_admin;
`;
