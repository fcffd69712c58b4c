/**
 * The figures that an operator watches and only the database knows, in one statement. Each part reads a
 * partial index, or a table with a row for each setting, and stops at COUNTED_MAX rows. So it costs
 * what is open, and never what has been done.
 */
import { OPEN_PAYMENT_STATUSES } from '../../domain/payment';
import { OPEN_PAYOUT_GROUP } from '../../domain/payout';
import { CHANGED_COLLATION } from '../collation';
import { AWAITS_SCREENING } from '../screening/screening';
import { sqlList, type Db } from '../transaction';

/** Counts stop here, and the oldest is then the oldest of those that were counted. */
export const COUNTED_MAX = 20_000;

/** One figure with its labels. */
export interface Figure {
  /** The name of the metric. */
  name: string;
  labels: Record<string, string>;
  /** A count, or Unix time in seconds. An amount is rounded: nothing is computed from it. */
  value: number;
}

export function readOperatingFigures(db: Db): Promise<Figure[]> {
  return db.query<Figure>(FIGURES_SQL);
}

const MODE_AND_STATUS = `jsonb_build_object('mode', mode, 'status', status)`;
const MODE = `jsonb_build_object('mode', mode)`;

function seconds(time: string): string {
  return `extract(epoch FROM ${time})::float8`;
}

/** SQL: at most COUNTED_MAX rows of `from`. */
function atMost(columns: string, from: string): string {
  return `SELECT ${columns} FROM ${from} LIMIT ${COUNTED_MAX}`;
}

/** Times of schedules that have come and have no batch and no reason yet. */
const RUNS_DUE = `(
  SELECT mode, next_run_at AS since FROM payout_schedules
   WHERE status = 'active' AND next_run_at <= now()
  UNION ALL
  SELECT s.mode, r.scheduled_for
    FROM payout_schedule_runs r JOIN payout_schedules s ON s.id = r.schedule_id
   WHERE r.status = 'pending') AS due`;

const FIGURES_SQL = `
WITH payouts_open AS MATERIALIZED (
       ${atMost('mode, status, currency, created_at, total_debit', `payouts WHERE status_group = '${OPEN_PAYOUT_GROUP}'`)}),
     payments_open AS MATERIALIZED (
       ${atMost('mode, status, created_at', `payments WHERE status IN (${sqlList(OPEN_PAYMENT_STATUSES)})`)}),
     in_doubt AS MATERIALIZED (
       ${atMost('mode, in_doubt_since', 'payouts WHERE in_doubt_since IS NOT NULL ORDER BY in_doubt_since')}),
     pending AS MATERIALIZED (
       ${atMost('next_attempt_at', `webhook_deliveries WHERE status = 'pending'`)}),
     held AS MATERIALIZED (
       ${atMost('h.kind, h.since', `screening_holds h JOIN payouts ON payouts.id = h.payout_id WHERE ${AWAITS_SCREENING}`)}),
     runs_failed AS MATERIALIZED (
       ${atMost(
         `s.mode, r.failure ->> 'code' AS code`,
         `payout_schedule_runs r JOIN payout_schedules s ON s.id = r.schedule_id
           WHERE r.status = 'failed' AND r.ended_at > now() - interval '1 day'`,
       )}),
     runs_due AS MATERIALIZED (
       ${atMost('mode, since', RUNS_DUE)}),
     unscreened AS MATERIALIZED (
       ${atMost('destination_since', `recipients WHERE screening = 'asking' AND deleted_at IS NULL`)}),
     unsealed AS MATERIALIZED (
       ${atMost('at', 'audit_unsealed ORDER BY entry_id')}),
     cases_open AS MATERIALIZED (
       ${atMost('kind', 'cases WHERE resolved_at IS NULL')})
SELECT 'gateway_payouts_open' AS name, ${MODE_AND_STATUS} AS labels, count(*)::float8 AS value
  FROM payouts_open GROUP BY mode, status
UNION ALL
SELECT 'gateway_payouts_oldest_open_timestamp_seconds', ${MODE_AND_STATUS}, ${seconds('min(created_at)')}
  FROM payouts_open GROUP BY mode, status
UNION ALL
SELECT 'gateway_payouts_reserved', jsonb_build_object('mode', mode, 'currency', currency),
       sum(total_debit)::float8
  FROM payouts_open GROUP BY mode, currency
UNION ALL
SELECT 'gateway_payments_open', ${MODE_AND_STATUS}, count(*)
  FROM payments_open GROUP BY mode, status
UNION ALL
SELECT 'gateway_payments_oldest_open_timestamp_seconds', ${MODE_AND_STATUS}, ${seconds('min(created_at)')}
  FROM payments_open GROUP BY mode, status
UNION ALL
SELECT 'gateway_payouts_in_doubt', ${MODE}, count(*) FROM in_doubt GROUP BY mode
UNION ALL
SELECT 'gateway_payouts_oldest_in_doubt_timestamp_seconds', ${MODE}, ${seconds('min(in_doubt_since)')}
  FROM in_doubt GROUP BY mode
UNION ALL
SELECT 'gateway_webhook_deliveries_pending', '{}', count(*) FROM pending
UNION ALL
SELECT 'gateway_webhook_deliveries_due', '{}', count(*) FROM pending WHERE next_attempt_at <= now()
UNION ALL
SELECT 'gateway_webhook_deliveries_oldest_due_timestamp_seconds', '{}', ${seconds('min(next_attempt_at)')}
  FROM pending WHERE next_attempt_at <= now() HAVING count(*) > 0
UNION ALL
SELECT 'gateway_cases_open', jsonb_build_object('kind', kind), count(*) FROM cases_open GROUP BY kind
UNION ALL
SELECT 'gateway_payout_pauses', jsonb_build_object('scope', scope), count(*)
  FROM payout_pauses WHERE mode IS DISTINCT FROM 'test' GROUP BY scope
UNION ALL
SELECT 'gateway_payouts_held_by_screening', jsonb_build_object('kind', kind), count(*)
  FROM held GROUP BY kind
UNION ALL
SELECT 'gateway_payouts_oldest_held_by_screening_timestamp_seconds', jsonb_build_object('kind', kind),
       ${seconds('min(since)')} FROM held GROUP BY kind
UNION ALL
SELECT 'gateway_payout_schedule_runs_failed', jsonb_build_object('mode', mode, 'code', code), count(*)
  FROM runs_failed GROUP BY mode, code
UNION ALL
SELECT 'gateway_payout_schedules_oldest_due_timestamp_seconds', ${MODE}, ${seconds('min(since)')}
  FROM runs_due GROUP BY mode
UNION ALL
SELECT 'gateway_recipients_oldest_unscreened_timestamp_seconds', '{}', ${seconds('min(destination_since)')}
  FROM unscreened HAVING count(*) > 0
UNION ALL
SELECT 'gateway_audit_oldest_unsealed_timestamp_seconds', '{}', ${seconds('min(at)')}
  FROM unsealed HAVING count(*) > 0
UNION ALL
SELECT 'gateway_provider_statement_timestamp_seconds',
       jsonb_build_object('provider', provider, 'mode', mode, 'kind', kind), ${seconds('read_at')}
  FROM provider_statements WHERE read_at IS NOT NULL
UNION ALL
SELECT 'ledger_last_successful_check_timestamp_seconds', '{}', ${seconds('proven_at')} FROM ledger_proof
UNION ALL
SELECT 'gateway_ledger_check_timestamp_seconds', '{}', ${seconds('checked_at')}
  FROM ledger_report WHERE checked_at IS NOT NULL
UNION ALL
SELECT 'gateway_ledger_broken_invariants', '{}', count(*)
  FROM ledger_report, jsonb_array_elements(report -> 'invariants') AS invariant
 WHERE (invariant ->> 'broken')::bigint > 0
UNION ALL
-- The sessions of this login only: commits that a synchronous standby has not confirmed.
SELECT 'gateway_database_commits_waiting_for_standby', '{}', count(*)
  FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
UNION ALL
SELECT 'gateway_database_collation_changed', '{}', count(*) FROM ${CHANGED_COLLATION}`;
