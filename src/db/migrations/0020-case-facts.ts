/** A case collects facts, and a decision covers the facts that its operator saw and no other. */
export const sql = /* sql */ `
-- The facts of a case in the order in which they came: its transfers or refunds, otherwise its first
-- details and those that came later. None is changed or removed, so their number is their version.
CREATE FUNCTION case_facts(details jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN jsonb_typeof(details->'transfers') = 'array' THEN details->'transfers'
    WHEN jsonb_typeof(details->'refunds') = 'array' THEN details->'refunds'
    ELSE jsonb_build_array(details - 'later') || coalesce(details->'later', '[]')
  END
$$;

-- The facts of one that the other does not contain. A fact that says more contains one that says less.
CREATE FUNCTION case_facts_missing(known jsonb, found jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(jsonb_agg(fact ORDER BY place), '[]')
    FROM jsonb_array_elements(case_facts(found)) WITH ORDINALITY AS facts (fact, place)
   WHERE NOT case_facts(known) @> jsonb_build_array(fact)
$$;

CREATE FUNCTION case_with_facts(known jsonb, found jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN jsonb_typeof(known->'transfers') = 'array'
      THEN jsonb_set(known, '{transfers}', case_facts(known) || case_facts_missing(known, found))
    WHEN jsonb_typeof(known->'refunds') = 'array'
      THEN jsonb_set(known, '{refunds}', case_facts(known) || case_facts_missing(known, found))
    ELSE known || jsonb_build_object('later',
      coalesce(known->'later', '[]') || case_facts_missing(known, found))
  END
$$;

REVOKE ALL ON FUNCTION case_facts, case_facts_missing, case_with_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION case_facts, case_facts_missing
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT EXECUTE ON FUNCTION case_with_facts TO gateway_api, gateway_worker, gateway_admin;
-- A callback can add a fact to an open case.
GRANT UPDATE (details) ON cases TO gateway_api;
`;
