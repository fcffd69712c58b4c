/** An endpoint can ask for the headers of Standard Webhooks as well (decisions/webhooks#webhook-secrets). */
export const sql = /* sql */ `
ALTER TABLE webhook_endpoints
  ADD COLUMN signature text NOT NULL DEFAULT 'gateway'
    CHECK (signature IN ('gateway', 'standard_webhooks'));
GRANT UPDATE (signature) ON webhook_endpoints TO gateway_api;
GRANT SELECT (signature) ON webhook_endpoints TO gateway_merchant;
`;
