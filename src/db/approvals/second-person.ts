/** The amounts above which another person approves, and the approvals (decisions/controls#second-person). */
import type { Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { ScheduleTotals } from '../../domain/payout-schedule';
import type { Approver, SecondPersonRule } from '../../domain/second-person';
import { APPROVER_ROLES } from '../../domain/users';
import { sqlList, type Db, type Reader, type Tx } from '../transaction';

const ROLES = `'{${APPROVER_ROLES.join(',')}}'`;

/** SQL over a row of api_keys: as which a second person saw it. */
const KEY_VERSION = 'extract(epoch FROM made_at)::text';

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
    `SELECT m.user_id, u.email, u.name, ARRAY(SELECT related_people(m.account_id, m.user_id)) AS related_to
       FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE m.account_id = ? AND u.disabled_at IS NULL AND u.bound_account_id IS NULL
        AND m.role IN (${sqlList(APPROVER_ROLES)})
      ORDER BY u.name, u.email`,
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

/** Why `approved_by_second_person` does not count somebody. Null if it does. */
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

/** SQL: the row of the person whose line a requester has, with what is left of it; no row: there is no line. */
export function personAlone(account: string, mode: string, currency: string, requester: string) {
  return `person_alone(${account}, ${mode}, ${currency}, ${requester}, ${ROLES})`;
}

/** SQL: the person whose line a requester has; null means nobody's. */
export function personOf(requester: string): string {
  return `person_of_requester(${requester}, ${ROLES})`;
}

/** The person whose line a requester has. Null means an API key that nobody of the account made, or that is approved. */
export async function findPersonOf(db: Db | Tx, requester: string): Promise<string | null> {
  const [found] = await db.query<{ person: string | null }>(`SELECT ${personOf('?')} AS person`, [
    requester,
  ]);
  return found?.person ?? null;
}

interface Requester extends Owner {
  apiKeyId: string;
}

/** Null if the requester may move any amount alone. */
export async function readAlone(
  db: Db | Tx,
  { accountId, mode, apiKeyId }: Requester,
  currency: string,
): Promise<{ maker: string; remaining: Amount } | null> {
  const [found] = await db.query<{ maker: string; remaining: Amount }>(
    `SELECT maker, remaining FROM ${personAlone('?', '?', '?', '?')}`,
    [accountId, mode, currency, apiKeyId],
  );
  return found ?? null;
}

/** Whether a new schedule would wait for a second person. */
export async function scheduleNeedsPerson(
  db: Reader,
  { accountId, mode, apiKeyId }: Requester,
  totals: readonly ScheduleTotals[],
  runsADay: number,
): Promise<boolean> {
  const found = await db.query(
    `SELECT FROM jsonb_to_recordset(?::jsonb) AS total (currency text, amount numeric),
            ${personAlone('?', '?', 'total.currency', '?')} AS alone
      WHERE total.amount * ? > alone.remaining LIMIT 1`,
    [JSON.stringify(totals), accountId, mode, apiKeyId, runsADay],
  );
  return found.length > 0;
}

/** What a key that a person made waits for. */
interface KeyApproval {
  maker: string;
  version: string;
}

/** The person who made a key, while their line is that of the key. */
export async function findKeyApproval(
  db: Reader,
  { accountId, mode }: Owner,
  id: string,
): Promise<KeyApproval | null> {
  const [found] = await db.query<KeyApproval>(
    `SELECT made_by AS maker, ${KEY_VERSION} AS version FROM api_keys
      WHERE id = ? AND account_id = ? AND mode = ? AND ${KEY_AWAITS}`,
    [id, accountId, mode],
  );
  return found ?? null;
}

/** SQL over a row of api_keys: a key that pays, in an account with a line, that a second person may approve. */
export const KEY_AWAITS = `key_awaits_second_person(api_keys.id, ${ROLES})`;

/** Whoever makes a key, or changes what it may do, stands for it until another person approves it. */
export async function saveKeyMaker(tx: Tx, id: string, email: string): Promise<void> {
  await tx.query(
    `UPDATE api_keys SET made_at = clock_timestamp(), made_by =
            (SELECT u.id FROM users u WHERE u.kind = 'merchant' AND lower(u.email) = lower(?))
      WHERE id = ?`,
    [email, id],
  );
}

/** SQL: whether another person of the account, who may approve, has approved this version of an object. */
export function approvedByAnother(of: {
  id: string;
  version: string;
  account: string;
  maker: string;
}): string {
  const { id, version, account, maker } = of;
  return `approved_by_second_person(${id}, ${version}, ${account}, ${maker}, ${ROLES})`;
}
