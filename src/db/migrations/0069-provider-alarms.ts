/** Alarms of the providers, such as those of the wallet, which operators are told of (decisions/notifications#notifications). */
export const sql = /* sql */ `
-- What the providers answered last.
CREATE TABLE provider_alarms (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The provider's. An alarm that ends and comes back has another one.
  alarm_id text NOT NULL,
  kind text NOT NULL,
  network text NOT NULL,
  subject text NOT NULL,
  detail text NOT NULL,
  raised_at timestamptz NOT NULL,
  PRIMARY KEY (provider, mode, alarm_id)
);
GRANT SELECT ON provider_alarms TO gateway_dashboard;

CREATE FUNCTION note_provider_alarm_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('provider_alarm', concat_ws(':', NEW.provider, NEW.mode, NEW.alarm_id), NULL, NULL,
                        concat_ws(' ', NEW.kind, 'on', NEW.network, '(' || NEW.mode || ' mode)'));
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON provider_alarms FOR EACH ROW
  EXECUTE FUNCTION note_provider_alarm_occasion();

-- Replaces the open alarms of a provider by those that it has answered.
CREATE FUNCTION note_provider_alarms(p_provider text, p_mode text, p_alarms jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH open AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(p_alarms)
      AS x (id text, kind text, network text, subject text, detail text, raised_at timestamptz)
  ), ended AS (
    DELETE FROM provider_alarms a WHERE a.provider = p_provider AND a.mode = p_mode
       AND NOT EXISTS (SELECT FROM open o WHERE o.id = a.alarm_id)
  )
  INSERT INTO provider_alarms (provider, mode, alarm_id, kind, network, subject, detail, raised_at)
  SELECT p_provider, p_mode, id, kind, network, subject, detail, raised_at FROM open
  ON CONFLICT (provider, mode, alarm_id) DO UPDATE SET detail = excluded.detail
   WHERE provider_alarms.detail <> excluded.detail
$$;
GRANT EXECUTE ON FUNCTION note_provider_alarms TO gateway_worker;
`;
