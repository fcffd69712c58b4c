/** Payouts: reads, and the writes that are guarded by the transition table. */
import type { Payout, PayoutStatus, PayoutTrigger } from '../../domain/payout';
import { nextPayoutStatus, payoutStatusesBefore } from '../../domain/payout';
import { PayoutModel } from '../models';
import type { NewDeliveries } from './events';
import { type FirstEvent, insertClaimed } from './insert-claimed';
import {
  assignments,
  deferredRows,
  MissingRow,
  preparedRows,
  sqlList,
  type Db,
  type Reader,
  type Tx,
} from '../transaction';

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
  >
>;

export async function findPayout(db: Reader, id: string): Promise<Payout | null> {
  const [found] = await preparedRows<Payout>(db, 'SELECT * FROM payouts WHERE id = ?', [id]);
  return found ?? null;
}

export async function getPayout(db: Db | Tx, id: string): Promise<Payout> {
  const payout = await findPayout(db, id);
  if (payout === null) throw new MissingRow(id);
  return payout;
}

/**
 * Inserts a payout, with the transaction's next statement.
 * @returns false, and nothing is written, when the reference is already used
 */
export function insertPayout(
  tx: Tx,
  payout: Payout,
  event: FirstEvent,
  response: { status: number; body: Buffer },
  deliveries: NewDeliveries,
): Promise<boolean> {
  return insertClaimed(tx, PayoutModel, payout, event, response, deliveries, deferredRows);
}

/**
 * Applies the transition `trigger` if the payout's status has it. A row that its batch has not
 * released does not change.
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
  const fields = { ...change, status: targetOf(trigger, from) };
  const [row] = await preparedRows<Payout>(
    tx,
    `UPDATE payouts
        SET ${assignments(fields)}, sequence = sequence + 1, updated_at = clock_timestamp()
      WHERE id = ? AND status IN (${sqlList(from)}) AND NOT awaits_batch AND ${only} RETURNING *`,
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
  const changed = await PayoutModel.query(db).where({ id, status }).patch(change).returning('*');
  const [row] = changed;
  return row ?? null;
}
