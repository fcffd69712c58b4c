/**
 * A provider whose database was restored gives the ids of alarms again. The time at which it was raised tells
 * such an alarm from the earlier one, which operators were told of.
 */
export const sql = /* sql */ `
CREATE OR REPLACE FUNCTION note_provider_alarm_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('provider_alarm',
                        concat_ws(':', NEW.provider, NEW.mode, NEW.alarm_id, extract(epoch FROM NEW.raised_at)),
                        NULL, NULL, concat_ws(' ', NEW.kind, 'on', NEW.network, '(' || NEW.mode || ' mode)'));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION note_provider_alarms(p_provider text, p_mode text, p_alarms jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM provider_alarms a WHERE a.provider = p_provider AND a.mode = p_mode
     AND NOT EXISTS (SELECT FROM jsonb_to_recordset(p_alarms) AS open (id text, raised_at timestamptz)
                      WHERE open.id = a.alarm_id AND open.raised_at = a.raised_at);
  INSERT INTO provider_alarms (provider, mode, alarm_id, kind, network, subject, detail, raised_at)
  SELECT p_provider, p_mode, id, kind, network, subject, detail, raised_at
    FROM jsonb_to_recordset(p_alarms)
      AS open (id text, kind text, network text, subject text, detail text, raised_at timestamptz)
  ON CONFLICT (provider, mode, alarm_id) DO UPDATE SET detail = excluded.detail
   WHERE provider_alarms.detail <> excluded.detail
$$;
`;
