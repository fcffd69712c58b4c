/**
 * Two operators of whom one brought in the other: who invites an address of their own would be two people
 * otherwise. The audit log has who it was. What the admin command does brings nobody in here: whoever runs
 * it is the root of trust (decisions/policy-proposals).
 */
import { rows, type Tx } from '../transaction';

const RELATED_DAYS = 30;

/**
 * SQL: whether one of the two invited the other, or proposed the other's role, in the last 30 days.
 * @param a alias of a row of users; b as well
 */
export function areRelated(a: string, b: string): string {
  return `EXISTS (SELECT FROM audit_log r
    WHERE r.object_id IN (${a}.id, ${b}.id) AND r.action IN ('user.join', 'user.change_role')
      AND r.at > clock_timestamp() - interval '${RELATED_DAYS} days'
      AND lower(r.after->>'proposed_by') =
          CASE r.object_id WHEN ${a}.id THEN lower(${b}.email) ELSE lower(${a}.email) END)`;
}

/** SQL: the same of two e-mail addresses of operators. @param one an expression; other as well */
export function areRelatedByEmail(one: string, other: string): string {
  return `EXISTS (SELECT FROM users ra, users rb
    WHERE ra.kind = 'operator' AND rb.kind = 'operator'
      AND lower(ra.email) = lower(${one}) AND lower(rb.email) = lower(${other})
      AND ${areRelated('ra', 'rb')})`;
}

/** The same as an answer. @param one an e-mail address; other as well */
export async function areRelatedOperators(tx: Tx, one: string, other: string): Promise<boolean> {
  const sql = `SELECT ${areRelatedByEmail('?', '?')} AS related`;
  const [found] = await rows<{ related: boolean }>(tx, sql, [one, other]);
  return found?.related ?? false;
}
