/** When a key last got a new secret. The review rule for young keys counts from then. */
export const sql = /* sql */ `
ALTER TABLE api_keys ADD COLUMN secret_changed_at timestamptz;

-- The rotations that the rule can still see, of a few keys.
WITH rotated AS (
  SELECT object_id, max(at) AS at FROM audit_log
   WHERE action = 'api_key.rotate' AND at > now() - interval '30 days' GROUP BY object_id
)
UPDATE api_keys k SET secret_changed_at = r.at FROM rotated r WHERE k.id = r.object_id;

GRANT SELECT (secret_changed_at)
  ON api_keys TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
`;
