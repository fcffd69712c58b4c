/**
 * What a payout waits for before it is submitted (decisions/payouts#payout-conditions), and its dossier
 * (decisions/payouts#payout-dossier).
 */
export const payoutConditions = /* sql */ `
-- A row is one condition. It is met once, and the payout is released when all of its rows are.
CREATE TABLE payout_conditions (
  payout_id text NOT NULL REFERENCES payouts,
  kind text NOT NULL,
  parameters jsonb NOT NULL DEFAULT '{}',
  met_at timestamptz,
  -- Null: never. 'infinity': its payout waits no more.
  looked_at timestamptz,
  PRIMARY KEY (payout_id, kind)
);
-- A payment that completes finds the payouts that wait for it.
CREATE INDEX payout_conditions_of_payment ON payout_conditions ((parameters ->> 'payment'))
  WHERE kind = 'payment' AND met_at IS NULL;
CREATE INDEX payout_conditions_of_recipient
  ON payout_conditions ((parameters ->> 'recipient')) WHERE kind = 'recipient';
CREATE INDEX payout_conditions_to_look_at
  ON payout_conditions ((coalesce(looked_at, '-infinity')))
  WHERE met_at IS NULL AND kind <> 'time' OR kind = 'recipient';
GRANT SELECT ON payout_conditions TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE (parameters, met_at, looked_at) ON payout_conditions TO gateway_worker;

-- The conditions of a payout, as src/domain/payout-condition.ts has them. A function, because the planner
-- of a list would take a subquery for more expensive than it is.
CREATE FUNCTION conditions_of_payout(p_payout_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(jsonb_build_object('kind', kind, 'parameters', parameters, 'metAt', met_at)
                   ORDER BY kind)
    FROM payout_conditions WHERE payout_id = p_payout_id
$$;
GRANT EXECUTE ON FUNCTION conditions_of_payout TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard,
  gateway_merchant;

-- The key that a condition names has approved the payout.
CREATE TABLE payout_approvals (
  payout_id text NOT NULL REFERENCES payouts,
  api_key_id text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (payout_id, api_key_id)
);
GRANT SELECT ON payout_approvals TO gateway_api, gateway_worker, gateway_admin;
GRANT INSERT ON payout_approvals TO gateway_api;

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

CREATE FUNCTION keep_request_hash() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.request_sha256 := (SELECT k.body_hash FROM idempotency_keys k
                          WHERE k.object_id = coalesce(NEW.batch_id, NEW.id));
  RETURN NEW;
END $$;
CREATE TRIGGER keep_request_hash BEFORE INSERT ON payouts
  FOR EACH ROW EXECUTE FUNCTION keep_request_hash();

-- For the account of the payout: operators without their names, and of the screening only what cleared it
-- (decisions/books#audit-log, decisions/controls#screening). One statement, so that all of it is of one moment. The caller has
-- checked whose payout it is.
CREATE FUNCTION payout_dossier(p_id text, p_actions text[]) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
SELECT jsonb_build_object(
  'request', jsonb_build_object(
    'sha256', encode(p.request_sha256, 'hex'),
    'requested_by', p.api_key_id,
    'batch', p.batch_id,
    'batch_manifest_sha256', (SELECT b.manifest_sha256 FROM payout_batches b WHERE b.id = p.batch_id)),
  'review', jsonb_build_object(
    'reasons', to_jsonb(p.review_reasons),
    'fee_terms', p.fee_terms::text,
    'operators', coalesce((
      SELECT jsonb_agg(jsonb_build_object('operator', 'operator ' || d.person, 'decision', d.kind,
                         'outcome', d.outcome, 'decided_at', d.decided_at) ORDER BY d.created_at)
        FROM (SELECT *, dense_rank() OVER (ORDER BY first_at, user_id) AS person
                FROM (SELECT *, min(created_at) OVER (PARTITION BY user_id) AS first_at
                        FROM payout_decisions WHERE payout_id = p.id) AS ranked) AS d), '[]') || coalesce((
      SELECT jsonb_agg(jsonb_build_object('operator', 'operator, claimed via signal',
                         'decision', split_part(l.action, '.', 2), 'outcome', 'applied',
                         'decided_at', l.at) ORDER BY l.id)
        FROM audit_log l WHERE l.object_id IN (p.id, p.batch_id) AND l.via = 'signal'), '[]'),
    'people', coalesce((
      SELECT jsonb_agg(jsonb_build_object('email', u.email, 'approved_at', a.created_at)
                       ORDER BY a.created_at)
        FROM person_approvals a JOIN users u ON u.id = a.user_id
       WHERE a.object_id IN (p.id, p.batch_id)), '[]'),
    'api_keys', coalesce((
      SELECT jsonb_agg(jsonb_build_object('api_key', a.api_key_id, 'approved_at', a.created_at)
                       ORDER BY a.created_at)
        FROM payout_approvals a WHERE a.payout_id = p.id), '[]')),
  'screening', coalesce((
    SELECT jsonb_agg(jsonb_build_object('source', CASE a.source WHEN 'service' THEN 'service' ELSE 'list' END,
                       'verdict', a.verdict, 'answered_at', a.answered_at) ORDER BY a.id)
      FROM screening_answers a WHERE a.object_id = p.id AND a.verdict = 'clear'), '[]'),
  'submission', jsonb_build_object(
    'started_at', p.submission_started_at,
    'accepted_at', p.processing_since,
    'provider', p.provider,
    'provider_reference', p.provider_transfer_id,
    'tx_hash', p.tx_hash),
  'events', coalesce((
    SELECT jsonb_agg(jsonb_build_object(
             'id', e.id, 'type', e.type, 'sequence', e.sequence, 'created_at', e.created_at,
             'body_sha256', encode(sha256(e.body), 'hex'),
             'deliveries', coalesce((
               SELECT jsonb_agg(jsonb_build_object(
                        'id', d.id, 'webhook_endpoint', d.endpoint_id, 'status', d.status,
                        'finished_at', d.finished_at,
                        'attempts', coalesce((
                          SELECT jsonb_agg(jsonb_build_object(
                                   'number', t.number, 'started_at', t.started_at,
                                   'outcome', t.outcome, 'http_status', t.status) ORDER BY t.number)
                            FROM webhook_attempts t WHERE t.delivery_id = d.id), '[]'))
                      ORDER BY d.id)
                 FROM webhook_deliveries d WHERE d.event_id = e.id), '[]'))
           ORDER BY e.sequence)
      FROM events e WHERE e.object_id = p.id AND e.account_id = p.account_id), '[]'),
  'audit', coalesce((
    SELECT jsonb_agg(jsonb_build_object(
             'id', l.id::text, 'at', l.at, 'action', l.action,
             'sequence', s.sequence, 'hash', encode(s.hash, 'hex'), 'sealed', s.entry,
             'previous_hash', coalesce(encode(before_it.hash, 'hex'), repeat('0', 64)),
             'salt', encode(s.salt, 'hex'), 'is_own', l.via IN ('dashboard', 'api'),
             'actor', l.actor, 'address', host(l.address), 'before', l.before, 'after', l.after,
             'reason', l.reason) ORDER BY l.id)
      FROM audit_log l LEFT JOIN audit_seals s ON s.entry_id = l.id
      LEFT JOIN audit_seals before_it ON before_it.sequence = s.sequence - 1
     WHERE l.object_id IN (p.id, p.batch_id) AND l.account_id = p.account_id
       AND (l.via IN ('dashboard', 'api') OR l.action = ANY (p_actions))), '[]'))
  FROM payouts p WHERE p.id = p_id
$$;
GRANT EXECUTE ON FUNCTION payout_dossier TO gateway_api;

-- Whether the payment that a payout waits for, or waited for, has not gone back to its customer. The payment is
-- locked, so that its refund and the release of the payout have one order.
CREATE FUNCTION payment_stands(p_payout_id text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  waits_for text;
BEGIN
  SELECT parameters ->> 'payment' INTO waits_for
    FROM payout_conditions WHERE payout_id = p_payout_id AND kind = 'payment';
  IF NOT FOUND THEN RETURN true; END IF;
  PERFORM FROM payments p
    WHERE p.id = waits_for AND p.status <> 'refunded'
      AND (p.credited_amount = 0 OR p.reversed_amount < p.credited_amount) FOR SHARE;
  RETURN FOUND;
END $$;
GRANT EXECUTE ON FUNCTION payment_stands TO gateway_worker;
`;
