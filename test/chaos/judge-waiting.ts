/** What must be true of the payouts that waited (waiting-payouts.ts): a sentence for everything that is not. */
import type { Db } from '../../src/db/transaction';
import { SCREENING_SCENARIOS } from '../../src/rails/sandbox/screening/scenarios';

export async function wrongWaits(db: Db): Promise<string[]> {
  const found = await Promise.all([tooEarly(db), unscreened(db), wrongRuns(db)]);
  return found.flat();
}

/** No payout leaves before all of its conditions hold: as they were stored, and by what they are about. */
async function tooEarly(db: Db): Promise<string[]> {
  const found = await db.query<{ id: string; kind: string }>(
    `SELECT p.id, c.kind FROM payouts p JOIN payout_conditions c ON c.payout_id = p.id
      WHERE p.submission_started_at IS NOT NULL
        AND (p.awaits_release OR p.released_at > p.submission_started_at
             OR p.release_expires_at <= p.released_at
             OR c.met_at IS NULL OR c.met_at > p.released_at
             OR NOT CASE c.kind
               WHEN 'time' THEN (c.parameters ->> 'at')::timestamptz <= c.met_at
               WHEN 'payment' THEN EXISTS (SELECT FROM payments q
                 WHERE q.id = c.parameters ->> 'payment' AND q.completed_at IS NOT NULL)
               WHEN 'approval' THEN EXISTS (SELECT FROM payout_approvals a
                 WHERE a.payout_id = p.id AND a.api_key_id = c.parameters ->> 'api_key'
                   AND a.created_at <= c.met_at)
               WHEN 'recipient' THEN EXISTS (SELECT FROM recipients r
                 WHERE r.id = c.parameters ->> 'recipient'
                   AND (r.destination_since > p.released_at
                        OR r.destination_value = p.destination_value AND r.screening = 'clear'
                           AND r.usable_from <= p.submission_started_at))
               ELSE false END)`,
  );
  return found.map(({ id, kind }) => `${id} was submitted before its condition ${kind} held`);
}

const HELD = [SCREENING_SCENARIOS.block, SCREENING_SCENARIOS.review].map(({ tron }) => tron);

/** No live payout leaves without a clear answer of each source, and none to an address that is not clear. */
async function unscreened(db: Db): Promise<string[]> {
  const found = await db.query<{ id: string }>(
    `SELECT p.id FROM payouts p CROSS JOIN screening_sources s
      WHERE p.mode = 'live' AND p.submission_started_at IS NOT NULL
        AND (p.destination_value = ANY (?::text[]) OR NOT EXISTS (SELECT FROM screening_answers a
              WHERE a.account_id = p.account_id AND a.destination_value = p.destination_value
                AND a.source = s.name AND a.verdict = 'clear'
                AND a.answered_at <= p.submission_started_at))`,
    [HELD],
  );
  return found.map(({ id }) => `${id} was submitted without a clear answer`);
}

/** A time of a schedule has one batch, and only times of the schedule have one. */
async function wrongRuns(db: Db): Promise<string[]> {
  const found = await db.query<{ id: string }>(
    `SELECT r.id FROM payout_schedule_runs r JOIN payout_schedules s ON s.id = r.schedule_id
       LEFT JOIN payout_batches b ON b.id = r.batch_id
      WHERE (r.status = 'created') <> (b.id IS NOT NULL)
         OR mod(extract(epoch FROM r.scheduled_for - s.start_at), s.interval_seconds) <> 0
     UNION ALL
     SELECT b.id FROM payout_batches b JOIN payout_schedules s
         ON s.account_id = b.account_id AND b.reference LIKE s.reference || '-%'
      WHERE NOT EXISTS (SELECT FROM payout_schedule_runs r WHERE r.batch_id = b.id)`,
  );
  return found.map(({ id }) => `${id} is no run of a time of its schedule, with one batch`);
}
