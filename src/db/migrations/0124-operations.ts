/**
 * The calls to each provider, counted by the minute, so that the console shows how it answers; accounts that are
 * created on a page; and notifications about payments and refunds.
 */
export const sql = /* sql */ `
CREATE TABLE provider_calls (
  provider text NOT NULL,
  mode text NOT NULL,
  minute timestamptz NOT NULL,
  calls integer NOT NULL,
  -- Without an answer, or with an error of the provider's server.
  failed integer NOT NULL,
  limited integer NOT NULL,
  total_ms bigint NOT NULL,
  slowest_ms integer NOT NULL,
  PRIMARY KEY (minute, provider, mode)
);
GRANT SELECT, INSERT, UPDATE ON provider_calls TO gateway_api, gateway_worker;
GRANT DELETE ON provider_calls TO gateway_worker;
GRANT SELECT ON provider_calls TO gateway_admin, gateway_dashboard;

GRANT INSERT (id, name) ON accounts TO gateway_dashboard;

-- What an event tells people of. A payment that completes is noted where somebody has chosen it, because most
-- people have not.
CREATE FUNCTION note_event_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.type <> 'payment.completed'
     OR EXISTS (SELECT FROM notification_choices c
                 WHERE c.account_id = NEW.account_id AND c.kind = TG_ARGV[0] AND c.by_email)
     OR EXISTS (SELECT FROM chat_webhooks w
                 WHERE w.account_id = NEW.account_id AND w.mode = NEW.mode AND TG_ARGV[0] = ANY (w.kinds)) THEN
    PERFORM note_occasion(TG_ARGV[0], NEW.object_id, NEW.account_id, NEW.mode, NEW.object_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_received AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type = 'payment.completed') EXECUTE FUNCTION note_event_occasion('payment_received');
CREATE TRIGGER note_underpaid AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type = 'payment.underpaid') EXECUTE FUNCTION note_event_occasion('payment_underpaid');
CREATE TRIGGER note_refund_failed AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type = 'refund.failed') EXECUTE FUNCTION note_event_occasion('refund_failed');
`;

export const concurrent = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS notification_choices_by_account
     ON notification_choices (account_id, kind) WHERE by_email`,
];
