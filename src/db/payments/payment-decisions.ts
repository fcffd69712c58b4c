/** Decisions about payments, of operators and merchants. All are kept, including refused ones. */
import type { Amount } from '../../domain/money';
import type { PaymentDecisionKind } from '../../domain/payment';
import type { Db, Tx } from '../transaction';

/** A decision as stored. */
export interface StoredDecision {
  /** Chosen by the operator, so that a repeated decision counts once. */
  id: string;
  number: number;
  kind: PaymentDecisionKind;
  /** The amount of a refund. */
  amount: Amount | null;
  /** A merchant can only cancel. */
  requestedBy: 'merchant' | 'operator';
  decidedBy: string | null;
  reason: string | null;
  state: 'pending' | 'accepted' | 'refused';
  refusal: string | null;
  decidedAt: Date;
}

const COLUMNS = `id, number, kind, amount, requested_by, decided_by, reason, state,
  refusal, decided_at`;

export async function findDecision(
  db: Db | Tx,
  paymentId: string,
  id: string,
): Promise<StoredDecision | null> {
  const sql = `SELECT ${COLUMNS} FROM payment_decisions WHERE payment_id = ? AND id = ?`;
  const [decision] = await db.query<StoredDecision>(sql, [paymentId, id]);
  return decision ?? null;
}

/** The pending decision, otherwise the newest: a refused one does not hide the pending one. */
export async function findLastDecision(
  db: Db | Tx,
  paymentId: string,
): Promise<StoredDecision | null> {
  const [decision] = await db.query<StoredDecision>(
    `SELECT ${COLUMNS} FROM payment_decisions WHERE payment_id = ?
      ORDER BY state = 'pending' DESC, number DESC LIMIT 1`,
    [paymentId],
  );
  return decision ?? null;
}

/** The newest decision that was not refused. */
export async function findEffectiveDecision(
  tx: Tx,
  paymentId: string,
): Promise<StoredDecision | null> {
  const [decision] = await tx.query<StoredDecision>(
    `SELECT ${COLUMNS} FROM payment_decisions WHERE payment_id = ? AND state <> 'refused'
      ORDER BY number DESC LIMIT 1`,
    [paymentId],
  );
  return decision ?? null;
}

/** A rejection of a hold that is in effect. */
export interface Rejection extends StoredDecision {
  state: 'pending' | 'accepted';
}

/** The rejection in effect. A release ends it only once the provider has accepted the release. */
export async function findRejection(tx: Tx, paymentId: string): Promise<Rejection | null> {
  const [decision] = await tx.query<Rejection>(
    `SELECT ${COLUMNS} FROM payment_decisions
      WHERE payment_id = ? AND (kind, state) IN
        (('reject', 'pending'), ('reject', 'accepted'), ('release', 'accepted'))
      ORDER BY number DESC LIMIT 1`,
    [paymentId],
  );
  return decision?.kind === 'reject' ? decision : null;
}

export async function countDecisions(tx: Tx, paymentId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS n FROM payment_decisions WHERE payment_id = ?';
  const [counted] = await tx.query<{ n: number }>(sql, [paymentId]);
  return counted?.n ?? 0;
}

/**
 * Inserts a decision. The caller holds the payment's lock, so no other decision gets the same number.
 */
export async function insertDecision(
  tx: Tx,
  paymentId: string,
  decision: Omit<StoredDecision, 'decidedAt'>,
): Promise<void> {
  const { id, number, kind, amount, requestedBy, decidedBy, reason, state, refusal } = decision;
  await tx.query(
    `INSERT INTO payment_decisions
       (payment_id, id, number, kind, amount, requested_by, decided_by, reason, state, refusal,
        ended_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? = 'pending' THEN NULL ELSE clock_timestamp() END)`,
    [paymentId, id, number, kind, amount, requestedBy, decidedBy, reason, state, refusal, state],
  );
}

/** Ends a decision, and changes nothing when it has ended already. */
export async function endDecision(
  db: Db | Tx,
  paymentId: string,
  id: string,
  refusal: string | null,
): Promise<void> {
  await db.query(
    `UPDATE payment_decisions
        SET state = CASE WHEN ?::text IS NULL THEN 'accepted' ELSE 'refused' END, refusal = ?,
            ended_at = clock_timestamp()
      WHERE payment_id = ? AND id = ? AND state = 'pending'`,
    [refusal, refusal, paymentId, id],
  );
}
