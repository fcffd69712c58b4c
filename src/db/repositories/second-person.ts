/** The amounts above which another person approves, and the approvals (decisions/second-person). */
import type { Amount } from '../../domain/money';
import type { Db, Tx } from '../transaction';

export type SecondPersonRule = Record<string, Amount>;

export async function findSecondPersonRule(db: Db, accountId: string): Promise<SecondPersonRule> {
  return ruleOf(await db.query(`${RULE} WHERE id = ?`, [accountId]));
}

export async function lockSecondPersonRule(tx: Tx, accountId: string): Promise<SecondPersonRule> {
  return ruleOf(await tx.query(`${RULE} WHERE id = ? FOR NO KEY UPDATE`, [accountId]));
}

const RULE = 'SELECT second_person_above AS rule FROM accounts';

function ruleOf([found]: { rule: SecondPersonRule }[]): SecondPersonRule {
  if (found === undefined) throw new Error('the account does not exist');
  return found.rule;
}

export async function saveSecondPersonRule(
  tx: Tx,
  accountId: string,
  rule: SecondPersonRule,
): Promise<void> {
  const sql = 'UPDATE accounts SET second_person_above = ?::jsonb WHERE id = ?';
  await tx.query(sql, [JSON.stringify(rule), accountId]);
}

/** A repeated approval stores nothing. */
export async function insertPersonApproval(
  tx: Tx,
  payoutId: string,
  userId: string,
): Promise<void> {
  const sql = `INSERT INTO payout_person_approvals (payout_id, user_id) VALUES (?, ?)
    ON CONFLICT DO NOTHING`;
  await tx.query(sql, [payoutId, userId]);
}
