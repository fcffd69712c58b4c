/**
 * Which payouts and payments need a workflow (invariant 12), and which of them restart-missing checks next.
 * A payout needs one until it is final. A payment needs one while it is open, while it is underpaid or
 * money that was seen is not credited (decisions/payments#late-payments), and while a decision or a refund
 * is pending (decisions/payments#refunds). The statuses come from the transition tables;
 * test/db/lists/statuses-in-sql.test.ts compares the predicates of the indexes with them.
 */
import { LATE_WINDOW_MS } from '../../domain/payment-step';
import { CREDITED_LATER_STATUSES, OPEN_PAYMENT_STATUSES, type Payment } from '../../domain/payment';
import { OPEN_PAYOUT_GROUP, type Payout } from '../../domain/payout';
import { Payments, Payouts } from '../models';
import { sqlList, type Reader } from '../transaction';

/** A row that was just created or checked is not checked again for this long. */
const CHECK_EVERY_MINUTES = 5;

/** SQL over a row of payouts: whether it needs a workflow. */
const PAYOUT_NEEDS_WORKFLOW = `(status_group = '${OPEN_PAYOUT_GROUP}' AND NOT awaits_batch)`;

/** SQL over a row of payouts or payments: whether it is due for a check. */
const IS_DUE = `workflow_checked_at < now() - interval '${CHECK_EVERY_MINUTES} minutes'`;

/** Takes the rows that `where` holds for, the least recently checked first. @returns their ids */
async function takeUnchecked(
  db: Reader,
  table: 'payouts' | 'payments',
  where: string,
  limit: number,
): Promise<string[]> {
  const taken = await db.query<{ id: string }>(
    `UPDATE ${table} SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM ${table} WHERE ${where}
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [limit],
  );
  return taken.map(({ id }) => id);
}

/** Takes open payouts that were not checked for a while. */
export async function takeUncheckedPayouts(db: Reader, limit: number): Promise<Payout[]> {
  const where = `${PAYOUT_NEEDS_WORKFLOW} AND ${IS_DUE}`;
  const ids = await takeUnchecked(db, 'payouts', where, limit);
  return db.query<Payout>(Payouts.query().findByIds(ids).toKnexQuery());
}

/** The payouts among the ids that need a workflow. */
export async function findPayoutsNeedingWorkflow(
  db: Reader,
  ids: readonly string[],
): Promise<Payout[]> {
  const found = Payouts.query()
    .findByIds([...ids])
    .whereRaw(PAYOUT_NEEDS_WORKFLOW);
  return db.query<Payout>(found.toKnexQuery());
}

/** Late payments are not urgent, so their workflows check once an hour at most. */
const LATE_CHECK_MINUTES = 60;

const LATE_WINDOW = `interval '${LATE_WINDOW_MS / 1_000} seconds'`;

const OPEN = `status IN (${sqlList(OPEN_PAYMENT_STATUSES)})`;

/** The predicate of the index payments_late_money. */
const LATE = `(status IN (${sqlList(CREDITED_LATER_STATUSES)})
  AND (status = 'underpaid' OR credited_amount < received_amount + unconfirmed_amount))`;

/** There are few of these, and each of the two conditions has its own index. */
const UNDECIDED = `id IN (SELECT payment_id FROM payment_decisions WHERE state = 'pending'
  UNION ALL SELECT payment_id FROM payment_refunds WHERE state IN ('ordered', 'owed'))`;

/** SQL over a row of payments: whether it needs a workflow. */
const PAYMENT_NEEDS_WORKFLOW = `(${OPEN} OR ${UNDECIDED}
  OR (${LATE} AND expires_at > now() - ${LATE_WINDOW}))`;

/** Takes open payments that were not checked for a while. */
export async function takeUncheckedPayments(db: Reader, limit: number): Promise<Payment[]> {
  const where = `${OPEN} AND ${IS_DUE}`;
  return findPayments(db, await takeUnchecked(db, 'payments', where, limit));
}

/** Takes payments that wait for late money, and stops checking those whose 30 days are over. */
export async function takeUncheckedLatePayments(db: Reader, limit: number): Promise<Payment[]> {
  const taken = await db.query<{ id: string; isOver: boolean }>(
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

/** Takes payments with a pending decision or refund, in any status. */
export async function takeUncheckedDecisions(db: Reader, limit: number): Promise<Payment[]> {
  const where = `${UNDECIDED} AND (${IS_DUE} OR workflow_checked_at = 'infinity')`;
  return findPayments(db, await takeUnchecked(db, 'payments', where, limit));
}

/** The payments among the ids that need a workflow. */
export async function findPaymentsNeedingWorkflow(
  db: Reader,
  ids: readonly string[],
): Promise<Payment[]> {
  const found = Payments.query()
    .findByIds([...ids])
    .whereRaw(PAYMENT_NEEDS_WORKFLOW);
  return db.query<Payment>(found.toKnexQuery());
}

async function findPayments(db: Reader, ids: readonly string[]): Promise<Payment[]> {
  return db.query<Payment>(
    Payments.query()
      .findByIds([...ids])
      .toKnexQuery(),
  );
}

/** An object that needs a workflow. */
export interface ObjectNeedingWorkflow {
  id: string;
  status: string;
}

const NEEDING_WORKFLOW = `
  SELECT id, status FROM payouts WHERE ${PAYOUT_NEEDS_WORKFLOW}
  UNION ALL
  SELECT id, status FROM payments WHERE ${PAYMENT_NEEDS_WORKFLOW}`;

/** All objects that need a workflow (invariant 12). */
export async function listNeedingWorkflow(db: Reader): Promise<ObjectNeedingWorkflow[]> {
  return db.query<ObjectNeedingWorkflow>(
    `SELECT id, status FROM (${NEEDING_WORKFLOW}) AS objects ORDER BY id`,
  );
}

/** The ids that still need a workflow. */
export async function listStillNeedingWorkflow(
  db: Reader,
  ids: readonly string[],
): Promise<ObjectNeedingWorkflow[]> {
  return db.query<ObjectNeedingWorkflow>(
    `SELECT id, status FROM (${NEEDING_WORKFLOW}) AS objects WHERE id = ANY (?::text[]) ORDER BY id`,
    [[...ids]],
  );
}
