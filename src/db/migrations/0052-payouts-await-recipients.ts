/** A payout can wait until its recipient is ready (decisions/payouts#payout-conditions). */
export const sql = /* sql */ `
-- Whether the recipient that a payout waits for still has the destination that the payout copied. The recipient
-- is locked, so that a change of it and the release of the payout have one order.
CREATE FUNCTION recipient_stands(p_payout_id text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  waits_for jsonb;
BEGIN
  SELECT parameters INTO waits_for
    FROM payout_conditions WHERE payout_id = p_payout_id AND kind = 'recipient';
  IF NOT FOUND THEN RETURN true; END IF;
  PERFORM FROM recipients
    WHERE id = waits_for ->> 'recipient' AND deleted_at IS NULL
      AND extract(epoch FROM destination_since)::text = waits_for ->> 'version' FOR SHARE;
  RETURN FOUND;
END $$;
GRANT EXECUTE ON FUNCTION recipient_stands TO gateway_worker;
`;

/** A recipient that changes finds the payouts that wait for it. */
export const steps = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_conditions_of_recipient
     ON payout_conditions ((parameters ->> 'recipient')) WHERE kind = 'recipient'`,
];
