/** For the pages: the clean-up of sign-ins, and indexes for what the lists filter by. */
export const sql = /* sql */ `
-- Sessions are kept for 90 days after their end, because a sign-in is limited less in a network that
-- the user is known in. The audit log has what invitations and their people did. A batch of each.
CREATE FUNCTION forget_old_sign_ins(p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH sessions_gone AS (
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE expires_at < now() - interval '90 days'
       ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  ), invitations_gone AS (
    DELETE FROM invitations WHERE id IN (
      SELECT id FROM invitations WHERE expires_at < now() - interval '30 days'
       ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  ), attempts_gone AS (
    DELETE FROM authentication_attempts WHERE id IN (
      SELECT id FROM authentication_attempts WHERE at < now() - interval '1 day'
       ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  ), challenges_gone AS (
    DELETE FROM used_challenges WHERE hash IN (
      SELECT hash FROM used_challenges WHERE expires_at < now()
       ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  )
  SELECT ((SELECT count(*) FROM sessions_gone) + (SELECT count(*) FROM invitations_gone)
        + (SELECT count(*) FROM attempts_gone) + (SELECT count(*) FROM challenges_gone))::integer
$$;
GRANT EXECUTE ON FUNCTION forget_old_sign_ins TO gateway_worker;
`;

/** The parts of request_log: a partitioned table as a whole has no concurrent indexes. */
const SLOTS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/** A value without rows is then not looked for in all rows. */
export const indexes = [
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_by_expiry ON sessions (expires_at)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS invitations_by_expiry ON invitations (expires_at)',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_transactions_by_type
     ON ledger_transactions (account_id, mode, type, posted_at DESC, id DESC)`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_account_action
     ON audit_log (account_id, action, id)`,
  ...SLOTS.flatMap((slot) => [
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS request_log_${slot}_by_path
       ON request_log_${slot} (account_id, mode, path text_pattern_ops, id)`,
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS request_log_${slot}_errors
       ON request_log_${slot} (account_id, mode, id) WHERE status >= 500`,
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS request_log_${slot}_by_key
       ON request_log_${slot} (account_id, mode, idempotency_key, id)
       WHERE idempotency_key IS NOT NULL AND status < 300 AND NOT replayed`,
  ]),
];
