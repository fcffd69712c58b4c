/** The API manages webhook endpoints and their deliveries, as the pages do (decisions/webhooks#webhooks-by-api). */
export const sql = /* sql */ `
GRANT SELECT, INSERT ON webhook_endpoints TO gateway_api;
GRANT UPDATE (url, description, events, enabled, secret_sealed, secret_key_id, timeouts_in_a_row,
              updated_at, deleted_at) ON webhook_endpoints TO gateway_api;
GRANT UPDATE (retry_requested_at, check_at) ON webhook_deliveries TO gateway_api;
-- The single attempt of a test event; and an attempt is locked to be completed.
GRANT SELECT, INSERT, UPDATE ON webhook_attempts TO gateway_api;
ALTER POLICY recipients_of_api ON events
  WITH CHECK (type LIKE 'recipient.%' OR type = 'webhook.ping');
-- What is counted by account, such as its endpoints, is counted under a lock of the account, for which
-- PostgreSQL asks for the right to change a column. Nothing reads this one to decide.
GRANT UPDATE (created_at) ON accounts TO gateway_api;
`;
