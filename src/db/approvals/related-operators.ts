/**
 * Two operators of whom one brought in the other count as one: otherwise whoever invites an address of
 * their own would be two people. The audit log has who it was. The admin command and the operators' OpenID
 * provider relate nobody, because whoever runs them is the root of trust (decisions/controls#policy-proposals).
 *
 * An operator whom the provider knows and one whom it does not know count as one as well: a person can be
 * both, and nothing tells (decisions/people#single-sign-on).
 */
import type { Tx } from '../transaction';

const RELATED_DAYS = 30;

/**
 * SQL: whether one of the two invited the other, or proposed the other's role, in the last 30 days, or the
 * provider knows only one of them.
 * @param a the alias of a row of users, and so is b
 */
export function areRelated(a: string, b: string): string {
  return `(${isKnown(a)} <> ${isKnown(b)} OR EXISTS (SELECT FROM audit_log r
    WHERE r.object_id IN (${a}.id, ${b}.id) AND r.action IN ('user.join', 'user.change_role')
      AND r.at > clock_timestamp() - interval '${RELATED_DAYS} days'
      AND lower(r.after->>'proposed_by') =
          CASE r.object_id WHEN ${a}.id THEN lower(${b}.email) ELSE lower(${a}.email) END))`;
}

const isKnown = (user: string): string =>
  `EXISTS (SELECT FROM operator_identities WHERE user_id = ${user}.id)`;

/**
 * SQL: as `areRelated`, for two email addresses of operators. @param one an SQL expression, and so is other
 */
export function areRelatedByEmail(one: string, other: string): string {
  return `EXISTS (SELECT FROM users ra, users rb
    WHERE ra.kind = 'operator' AND rb.kind = 'operator'
      AND lower(ra.email) = lower(${one}) AND lower(rb.email) = lower(${other})
      AND ${areRelated('ra', 'rb')})`;
}

/** Whether two operators are related, from the database. @param one an email address, and so is other */
export async function areRelatedOperators(tx: Tx, one: string, other: string): Promise<boolean> {
  const sql = `SELECT ${areRelatedByEmail('?', '?')} AS related`;
  const [found] = await tx.query<{ related: boolean }>(sql, [one, other]);
  return found?.related ?? false;
}
