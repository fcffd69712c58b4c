/** Which subject of an OpenID provider is which operator, and who came in without the provider. */
import type { OperatorRole } from '../../domain/users';
import type { Db, Tx } from '../transaction';

export interface Subject {
  issuer: string;
  subject: string;
}

export interface KnownOperator {
  id: string;
  email: string;
  operatorRole: OperatorRole;
  disabledAt: Date | null;
}

/** Locks the operator until the transaction ends. Null if no operator has this subject. */
export async function lockIdentified(
  tx: Tx,
  { issuer, subject }: Subject,
): Promise<KnownOperator | null> {
  const [found] = await tx.query<KnownOperator>(
    `SELECT u.id, u.email, u.operator_role, u.disabled_at
       FROM operator_identities i JOIN users u ON u.id = i.user_id
      WHERE i.issuer = ? AND i.subject = ? FOR NO KEY UPDATE OF u`,
    [issuer, subject],
  );
  return found ?? null;
}

export async function findIdentity(db: Db | Tx, userId: string): Promise<Subject | null> {
  const sql = 'SELECT issuer, subject FROM operator_identities WHERE user_id = ?';
  const [found] = await db.query<Subject>(sql, [userId]);
  return found ?? null;
}

/** @returns false if the operator has a subject already, or the subject an operator */
export async function insertIdentity(
  tx: Tx,
  userId: string,
  { issuer, subject }: Subject,
): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO operator_identities (user_id, issuer, subject)
     SELECT id, ?, ? FROM users WHERE id = ? AND kind = 'operator'
     ON CONFLICT DO NOTHING RETURNING user_id`,
    [issuer, subject, userId],
  );
  return inserted.length === 1;
}

export async function deleteIdentity(tx: Tx, userId: string): Promise<void> {
  await tx.query('DELETE FROM operator_identities WHERE user_id = ?', [userId]);
}

/** Who signed in without the provider in the hours that a session of operators lasts, latest first. */
export async function listBreakGlass(db: Db): Promise<{ email: string; at: Date }[]> {
  return db.query(
    `SELECT u.email, max(s.created_at) AS at FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.signed_in_by = 'break_glass' AND s.expires_at > now()
      GROUP BY u.email ORDER BY at DESC LIMIT 5`,
  );
}
