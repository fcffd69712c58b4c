/** Payouts: reads, and the writes that are guarded by the transition table. */
import type { Payout, PayoutStatus, PayoutTrigger } from '../../domain/payout';
import { nextPayoutStatus, payoutStatusesBefore } from '../../domain/payout';
import { Payouts } from '../models';
import type { EventTx } from '../webhooks/events';
import { BENEFICIARY } from './payout-beneficiaries';
import { CONDITIONS, MAY_BE_RELEASED } from './payout-conditions';
import { type FirstEvent, insertClaimed } from '../insert-claimed';
import { assignments, MissingRow, sqlList, type Db, type Reader, type Tx } from '../transaction';

/** The fields that a status change can write besides the status. */
export type PayoutChange = Partial<
  Pick<
    Payout,
    | 'decidedBy'
    | 'txHash'
    | 'failureReason'
    | 'rejectionReason'
    | 'providerTransferId'
    | 'inDoubtSince'
    | 'processingSince'
    | 'attentionLevel'
    | 'releaseExpiredAt'
    | 'reviewReasons'
  >
>;

export async function findPayout(db: Reader, id: string): Promise<Payout | null> {
  const sql = `SELECT *, ${CONDITIONS}, ${BENEFICIARY} FROM payouts WHERE id = ?`;
  const [found] = await db.prepared<Payout>(sql, [id]);
  return found ?? null;
}

/** Payouts of the provider that were paid by one of these transactions. */
export function listPayoutsPaidBy(
  db: Reader,
  { provider, mode }: Pick<Payout, 'provider' | 'mode'>,
  hashes: readonly string[],
): Promise<(Payout & { txHash: string })[]> {
  return db.prepared<Payout & { txHash: string }>(
    `SELECT *, ${CONDITIONS}, ${BENEFICIARY} FROM payouts
     WHERE tx_hash = ANY(?) AND provider = ? AND mode = ?`,
    [hashes, provider, mode],
  );
}

/** @throws MissingRow when there is no payout with this id */
export async function getPayout(db: Db | Tx, id: string): Promise<Payout> {
  const payout = await findPayout(db, id);
  if (payout === null) throw new MissingRow(id);
  return payout;
}

/** What the payout's row has: conditions and beneficiary have tables of their own. */
export function payoutRow(payout: Payout): Omit<Payout, 'conditions' | 'beneficiary'> {
  const { conditions: _, beneficiary: _sealed, ...row } = payout;
  return row;
}

/**
 * Inserts a payout, with the transaction's next statement.
 * @returns false, and nothing is written, when the reference is already used
 */
export function insertPayout(
  tx: EventTx,
  payout: Payout,
  event: FirstEvent,
  response: { status: number; body: Buffer },
): Promise<boolean> {
  return insertClaimed(tx, Payouts, payoutRow(payout), event, response, (sql, values) =>
    tx.sendWithNext(sql, values),
  );
}

/** Inserts a payout that no request made, and so has no response to store. */
export async function insertSinglePayout(tx: Tx, payout: Payout): Promise<void> {
  const object = Payouts.fromJson(payoutRow(payout), { skipValidation: true });
  await tx.query(Payouts.query().insert(object).toKnexQuery());
}

/** SQL: ends the wait for conditions; a payout without conditions stays as it is. */
const END_OF_WAIT =
  ', awaits_release = CASE WHEN awaits_release THEN false ELSE awaits_release END';
const RELEASE = ', released_at = CASE WHEN awaits_release THEN clock_timestamp() END';

/**
 * Applies the transition `trigger` if the payout's status has it. A row that its batch has not
 * released does not change, and a payout with conditions is approved when all of them are met.
 * @param only an additional condition: SQL over the row
 * @returns the payout after the change; null, and nothing is changed, when a guard does not hold
 */
export async function takeTransition(
  tx: Tx,
  id: string,
  trigger: PayoutTrigger,
  change: PayoutChange,
  only = 'true',
): Promise<Payout | null> {
  const from = payoutStatusesBefore(trigger);
  const status = targetOf(trigger, from);
  const fields = { ...change, status };
  const [row] = await tx.prepared<Payout>(
    `UPDATE payouts
        SET ${assignments(fields)}, sequence = sequence + 1, updated_at = clock_timestamp()
            ${from.includes('requested') && status !== 'under_review' ? END_OF_WAIT : ''}
            ${status === 'approved' ? RELEASE : ''}
      WHERE id = ? AND status IN (${sqlList(from)}) AND NOT awaits_batch
        AND ${status === 'approved' ? MAY_BE_RELEASED : 'true'} AND ${only}
     RETURNING *, ${CONDITIONS}`,
    [...Object.values(fields), id],
  );
  return row ?? null;
}

/** All transitions of one trigger lead to the same state; a test of the table checks this. */
function targetOf(trigger: PayoutTrigger, from: readonly PayoutStatus[]): PayoutStatus {
  const target = from[0] === undefined ? undefined : nextPayoutStatus(from[0], trigger);
  if (target === undefined) throw new Error(`no status has the transition ${trigger}`);
  return target;
}

/**
 * Writes fields of a payout without a status change, if its status is `status`.
 * @returns the payout; null when it has another status
 */
export async function noteOnPayout(
  db: Db | Tx,
  id: string,
  status: PayoutStatus,
  change: Partial<Pick<Payout, 'inDoubtSince' | 'attentionLevel'>>,
): Promise<Payout | null> {
  const changed = Payouts.query().where({ id, status }).patch(change).returning('*');
  const [row] = await db.query<Payout>(changed.toKnexQuery());
  return row ?? null;
}
