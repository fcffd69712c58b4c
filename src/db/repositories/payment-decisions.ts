/** What operators decided about payments: kept for good, also what came to nothing. */
import type { Amount } from '../../domain/money';
import type { PaymentDecisionKind } from '../../domain/payment';
import { rows, type Db, type Tx } from '../transaction';

export interface StoredDecision {
  /** Chosen by who decided: the same decision counts once. */
  id: string;
  number: number;
  kind: PaymentDecisionKind;
  /** Of a refund. */
  amount: Amount | null;
  decidedBy: string | null;
  reason: string | null;
  state: 'pending' | 'accepted' | 'refused';
  refusal: string | null;
  decidedAt: Date;
}

const COLUMNS = `id, number, kind, amount, decided_by, reason, state, refusal,
  decided_at`;

export async function findDecision(
  db: Db | Tx,
  paymentId: string,
  id: string,
): Promise<StoredDecision | null> {
  const sql = `SELECT ${COLUMNS} FROM payment_decisions WHERE payment_id = ? AND id = ?`;
  const [decision] = await rows<StoredDecision>(db, sql, [paymentId, id]);
  return decision ?? null;
}

/** The pending one, else the newest: a decision that was refused meanwhile does not hide it. */
export async function findLastDecision(
  db: Db | Tx,
  paymentId: string,
): Promise<StoredDecision | null> {
  const [decision] = await rows<StoredDecision>(
    db,
    `SELECT ${COLUMNS} FROM payment_decisions WHERE payment_id = ?
      ORDER BY state = 'pending' DESC, number DESC LIMIT 1`,
    [paymentId],
  );
  return decision ?? null;
}

/** The newest that was not refused. */
export async function findEffectiveDecision(
  tx: Tx,
  paymentId: string,
): Promise<StoredDecision | null> {
  const [decision] = await rows<StoredDecision>(
    tx,
    `SELECT ${COLUMNS} FROM payment_decisions WHERE payment_id = ? AND state <> 'refused'
      ORDER BY number DESC LIMIT 1`,
    [paymentId],
  );
  return decision ?? null;
}

export interface Rejection extends StoredDecision {
  state: 'pending' | 'accepted';
}

/** The reject that stands: a release ends it only when the provider has accepted that. */
export async function findRejection(tx: Tx, paymentId: string): Promise<Rejection | null> {
  const [decision] = await rows<Rejection>(
    tx,
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
  const [counted] = await rows<{ n: number }>(tx, sql, [paymentId]);
  return counted?.n ?? 0;
}

/** The caller holds the payment's lock, which makes the number its own. */
export async function insertDecision(
  tx: Tx,
  paymentId: string,
  decision: Omit<StoredDecision, 'decidedAt'>,
): Promise<void> {
  const { id, number, kind, amount, decidedBy, reason, state, refusal } = decision;
  await rows(
    tx,
    `INSERT INTO payment_decisions
       (payment_id, id, number, kind, amount, decided_by, reason, state, refusal, ended_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? = 'pending' THEN NULL ELSE clock_timestamp() END)`,
    [paymentId, id, number, kind, amount, decidedBy, reason, state, refusal, state],
  );
}

/** Changes nothing when it has ended already. */
export async function endDecision(
  db: Db | Tx,
  paymentId: string,
  id: string,
  refusal: string | null,
): Promise<void> {
  await rows(
    db,
    `UPDATE payment_decisions
        SET state = CASE WHEN ?::text IS NULL THEN 'accepted' ELSE 'refused' END, refusal = ?,
            ended_at = clock_timestamp()
      WHERE payment_id = ? AND id = ? AND state = 'pending'`,
    [refusal, refusal, paymentId, id],
  );
}
