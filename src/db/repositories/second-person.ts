/** The amounts above which another person approves, and the approvals (decisions/second-person). */
import type { PayoutSchedule } from '../../domain/payout-schedule';
import type { Approver, SecondPersonRule } from '../../domain/second-person';
import { APPROVER_ROLES } from '../../domain/users';
import { sqlList, type Db, type Tx } from '../transaction';

export async function findSecondPersonRule(
  db: Db | Tx,
  accountId: string,
): Promise<SecondPersonRule> {
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

export async function listApprovers(db: Db, accountId: string): Promise<Approver[]> {
  return db.query<Approver>(
    `SELECT m.user_id, u.email, ARRAY(SELECT related_people(m.account_id, m.user_id)) AS related_to
       FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE m.account_id = ? AND u.disabled_at IS NULL AND u.bound_account_id IS NULL
        AND m.role IN (${sqlList(APPROVER_ROLES)})
      ORDER BY u.email`,
    [accountId],
  );
}

/** Whether somebody of an account of theirs is related to the person, which an operator's vouching ends. */
export async function isRelated(tx: Tx, userId: string): Promise<boolean> {
  const found = await tx.query(
    `SELECT FROM memberships m, related_people(m.account_id, m.user_id) AS r
      WHERE m.user_id = ? AND r <> m.user_id LIMIT 1`,
    [userId],
  );
  return found.length > 0;
}

/** Why `approved_by_second_person` does not count somebody. Null: it does. */
export async function approvalFault(
  tx: Tx,
  { accountId, maker, userId }: { accountId: string; maker: string; userId: string },
): Promise<'related_person' | 'address_unproven' | null> {
  const [found] = await tx.query<{ related: boolean; unproven: boolean }>(
    `SELECT EXISTS (SELECT FROM related_people(?, ?) AS r WHERE r = u.id) AS related,
            u.bound_account_id IS NOT NULL AS unproven
       FROM users u WHERE u.id = ?`,
    [accountId, maker, userId],
  );
  if (found === undefined) throw new Error(`there is no user ${userId}`);
  if (found.related) return 'related_person';
  return found.unproven ? 'address_unproven' : null;
}

/** A repeated approval stores nothing. @param version what the person saw, where the object can change */
export async function insertPersonApproval(
  tx: Tx,
  objectId: string,
  version: string,
  userId: string,
): Promise<void> {
  const sql = `INSERT INTO person_approvals (object_id, version, user_id) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING`;
  await tx.query(sql, [objectId, version, userId]);
}

/** Whether another person has approved a schedule, which does not change. */
export async function isScheduleApproved(
  tx: Tx,
  { id, accountId, apiKeyId }: Pick<PayoutSchedule, 'id' | 'accountId' | 'apiKeyId'>,
): Promise<boolean> {
  const of = { id: '?', version: "''", account: '?', maker: '?' };
  const [found] = await tx.query<{ approved: boolean }>(
    `SELECT ${approvedByAnother(of)} AS approved`,
    [id, accountId, apiKeyId],
  );
  return found?.approved === true;
}

/** SQL: whether another person of the account, who may approve, has approved this version of an object. */
export function approvedByAnother(of: {
  id: string;
  version: string;
  account: string;
  maker: string;
}): string {
  const { id, version, account, maker } = of;
  const roles = `'{${APPROVER_ROLES.join(',')}}'`;
  return `approved_by_second_person(${id}, ${version}, ${account}, ${maker}, ${roles})`;
}
