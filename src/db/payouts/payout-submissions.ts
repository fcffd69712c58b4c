/**
 * Every submission of a payout begins with `beginSubmission`, the only place that lets one through, so no caller
 * can forget the pauses or the screening.
 */
import { raw } from 'objection';
import type { Payout } from '../../domain/payout';
import { Payouts } from '../models';
import { shareLockByName, type Db, type Tx } from '../transaction';
import { BENEFICIARY } from './payout-beneficiaries';
import { PAUSE_LOCK, PAUSES_OF_PAYOUT } from '../accounts/payout-pauses';
import { AWAITS_SCREENING_DECISION, IS_SCREENED, WAS_HELD } from '../screening/screening';

/**
 * - `begun`: the payout may be submitted to its provider now. `wasHeld`: its screening held it before.
 * - `held`: a pause holds it. Its workflow is woken when the pauses are lifted.
 * - `unscreened`: a source has not cleared its destination, or too long ago (decisions/controls#screening).
 * - `not_approved`: it has another status.
 */
export type Submission =
  | { kind: 'begun'; payout: Payout; wasHeld: boolean }
  | { kind: 'held'; reason: string }
  | { kind: 'unscreened'; payout: Payout }
  | { kind: 'not_approved' };

/**
 * Begins a submission. It must be called right before each submission to the provider, first or
 * repeated.
 */
export async function beginSubmission(db: Db, id: string): Promise<Submission> {
  const [begun] = await db.prepared<Payout & { wasHeld: boolean }>(
    `UPDATE payouts
        SET submission_started_at = coalesce(submission_started_at, clock_timestamp()),
            wake_after = NULL
      WHERE id = ? AND status = 'approved' AND ${IS_SCREENED}
        AND NOT EXISTS (${PAUSES_OF_PAYOUT}) RETURNING *, ${WAS_HELD} AS was_held`,
    [id],
  );
  if (begun !== undefined) return { kind: 'begun', payout: begun, wasHeld: begun.wasHeld };
  const [payout] = await db.query<Payout & { isScreened: boolean }>(
    `SELECT *, ${BENEFICIARY}, ${IS_SCREENED} AS is_screened FROM payouts WHERE id = ?`,
    [id],
  );
  if (payout?.status !== 'approved') return { kind: 'not_approved' };
  if (!payout.isScreened) return { kind: 'unscreened', payout };
  const reason = await db.transaction((tx) => hold(tx, payout));
  return reason === null ? beginSubmission(db, id) : { kind: 'held', reason };
}

/** @returns the reason of the pause; null when it was lifted in the meantime */
async function hold(tx: Tx, { id, provider, accountId }: Payout): Promise<string | null> {
  const scopes = [
    ['account', accountId],
    ['global', ''],
    ['provider', provider],
  ] as const;
  // A resume that commits from here on finds this payout among the held ones.
  for (const scope of scopes) await shareLockByName(tx, PAUSE_LOCK, ...scope);
  const [held] = await tx.query<{ reason: string }>(
    `UPDATE payouts SET wake_after = clock_timestamp()
      WHERE id = ? AND status = 'approved' AND EXISTS (${PAUSES_OF_PAYOUT})
     RETURNING (${PAUSES_OF_PAYOUT} LIMIT 1) AS reason`,
    [id],
  );
  return held?.reason ?? null;
}

/** A payout whose wake-up was lost is woken again after this time. */
const WAKE_AGAIN_MINUTES = 1;

/** Takes payouts that were held and that nothing holds any more, the longest held first. */
export async function takeReleasedPayouts(db: Db, limit: number): Promise<Payout[]> {
  const released = Payouts.query()
    .whereIn(
      'id',
      raw(
        `SELECT id FROM payouts
          WHERE wake_after <= clock_timestamp() AND status = 'approved'
            AND NOT EXISTS (${PAUSES_OF_PAYOUT}) AND NOT ${AWAITS_SCREENING_DECISION}
          ORDER BY wake_after LIMIT ? FOR UPDATE SKIP LOCKED`,
        [limit],
      ),
    )
    .patch({
      wakeAfter: raw(`clock_timestamp() + interval '${WAKE_AGAIN_MINUTES} minutes'`),
    })
    .returning('*');
  return db.query<Payout>(released.toKnexQuery());
}
