/** Payouts: reads, and the writes that are guarded by the transition table. */
import type { Payout, PayoutStatus, PayoutTrigger } from '../../domain/payout';
import { nextPayoutStatus, payoutStatusesBefore } from '../../domain/payout';
import { PayoutModel } from '../models';
import { type FirstEvent, insertClaimed } from './insert-claimed';
import type { Db, Tx } from '../transaction';

/** What a status change may write beside the status. */
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

export async function findPayout(db: Db | Tx, id: string): Promise<Payout | null> {
  const found = await PayoutModel.query(db).findById(id);
  return found ?? null;
}

export async function getPayout(db: Db | Tx, id: string): Promise<Payout> {
  const payout = await findPayout(db, id);
  if (payout === null) throw new Error(`payout ${id} does not exist`);
  return payout;
}

/** @returns false, and nothing is written, when the reference is taken */
export function insertPayout(
  tx: Tx,
  payout: Payout,
  event: FirstEvent,
  response: { status: number; body: Buffer },
): Promise<boolean> {
  return insertClaimed(tx, PayoutModel, payout, event, response);
}

/**
 * Takes the edge `trigger` of the transition table if the payout stands where it begins.
 * @param only a narrower guard: SQL over the row
 * @returns the payout after the change, or null when the guard did not hold and nothing changed
 */
export async function takeTransition(
  tx: Tx,
  id: string,
  trigger: PayoutTrigger,
  change: PayoutChange,
  only = 'true',
): Promise<Payout | null> {
  const from = payoutStatusesBefore(trigger);
  const changed = await PayoutModel.query(tx)
    .where({ id })
    .whereIn('status', from)
    .whereRaw(only)
    .patch({
      ...change,
      status: targetOf(trigger, from),
      sequence: tx.raw('sequence + 1'),
      updatedAt: tx.raw('clock_timestamp()'),
    })
    .returning('*');
  const [row] = changed;
  return row ?? null;
}

/** Every edge of one trigger leads to the same state; a test of the table holds that. */
function targetOf(trigger: PayoutTrigger, from: readonly PayoutStatus[]): PayoutStatus {
  const target = from[0] === undefined ? undefined : nextPayoutStatus(from[0], trigger);
  if (target === undefined) throw new Error(`no state has the trigger ${trigger}`);
  return target;
}

/**
 * Writes what is known about a payout without a status change, while it stands in `status`.
 * @returns the payout, or null when it stands elsewhere
 */
export async function noteOnPayout(
  db: Db | Tx,
  id: string,
  status: PayoutStatus,
  change: Partial<Pick<Payout, 'submissionStartedAt' | 'inDoubtSince' | 'attentionLevel'>>,
): Promise<Payout | null> {
  const changed = await PayoutModel.query(db).where({ id, status }).patch(change).returning('*');
  const [row] = changed;
  return row ?? null;
}
