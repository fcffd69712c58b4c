/**
 * Which payments need a workflow, and which of them the reconciler should make sure of next. A
 * payment needs one while it is open, for the late money after its end (decision P5), and while an
 * operator's decision or a refund that is owed is to be carried out (P6).
 */
import { LATE_WINDOW_MS } from '../../domain/payment-step';
import type { Payment } from '../../domain/payment';
import { PaymentModel } from '../models/payment';
import { rows, type Db } from '../transaction';

/** A payment that was just created or looked at is left alone this long. */
const OPEN_CHECK_MINUTES = 5;

/** There may be a month's worth of these, and each of them is in no hurry. */
const LATE_CHECK_MINUTES = 60;

const LATE_WINDOW = `interval '${LATE_WINDOW_MS / 1_000} seconds'`;

const OPEN = `status IN ('created', 'pending', 'processing', 'on_hold')`;

/** As the index payments_late has it. */
const LATE = `(status IN ('expired', 'cancelled', 'underpaid')
  OR (status = 'completed' AND credited_amount < received_amount))`;

/** Few at any time, and each of the two has an index of its own. */
const UNDECIDED = `id IN (SELECT payment_id FROM payment_decisions WHERE state = 'pending'
  UNION ALL SELECT payment_id FROM payment_refunds WHERE state = 'owed')`;

/** Of a row of payments: whether a workflow must be there for it. */
export const PAYMENT_NEEDS_WORKFLOW = `(${OPEN} OR ${UNDECIDED}
  OR (${LATE} AND expires_at > now() - ${LATE_WINDOW}))`;

/** Takes payments that are open, the ones not looked at for longest first. */
export async function takeUncheckedPayments(db: Db, limit: number): Promise<Payment[]> {
  const taken = await rows<{ id: string }>(
    db,
    `UPDATE payments SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM payments
         WHERE ${OPEN} AND workflow_checked_at < now() - ? * interval '1 minute'
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [OPEN_CHECK_MINUTES, limit],
  );
  return findPayments(
    db,
    taken.map(({ id }) => id),
  );
}

/** Takes payments that wait for late money, and puts those aside whose time is over. */
export async function takeUncheckedLatePayments(db: Db, limit: number): Promise<Payment[]> {
  const taken = await rows<{ id: string; isOver: boolean }>(
    db,
    `UPDATE payments
        SET workflow_checked_at = CASE WHEN expires_at > now() - ${LATE_WINDOW}
                                     THEN clock_timestamp() ELSE 'infinity' END
      WHERE id IN (
        SELECT id FROM payments
         WHERE ${LATE} AND workflow_checked_at < now() - ? * interval '1 minute'
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id, workflow_checked_at = 'infinity' AS is_over`,
    [LATE_CHECK_MINUTES, limit],
  );
  return findPayments(
    db,
    taken.filter(({ isOver }) => !isOver).map(({ id }) => id),
  );
}

/** Takes payments of which something is decided and not carried out, whatever their status is. */
export async function takeUncheckedDecisions(db: Db, limit: number): Promise<Payment[]> {
  const taken = await rows<{ id: string }>(
    db,
    `UPDATE payments SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM payments
         WHERE ${UNDECIDED} AND (workflow_checked_at < now() - ? * interval '1 minute'
                                 OR workflow_checked_at = 'infinity')
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [OPEN_CHECK_MINUTES, limit],
  );
  return findPayments(
    db,
    taken.map(({ id }) => id),
  );
}

/** Those of the ids that are payments which need a workflow. */
export async function findPaymentsNeedingWorkflow(
  db: Db,
  ids: readonly string[],
): Promise<Payment[]> {
  const found = await PaymentModel.query(db)
    .findByIds([...ids])
    .whereRaw(PAYMENT_NEEDS_WORKFLOW);
  return found as unknown as Payment[];
}

async function findPayments(db: Db, ids: readonly string[]): Promise<Payment[]> {
  return (await PaymentModel.query(db).findByIds([...ids])) as unknown as Payment[];
}
