/** Who approved or declined an object as the second person of its account, from the audit log. */
import type { Db } from '../transaction';

const PERSON_DECISIONS = ['second_person.approve', 'second_person.decline'] as const;

export interface PersonDecision {
  action: (typeof PERSON_DECISIONS)[number];
  email: string;
  /** Empty if the person has none, or was removed. */
  name: string;
  reason: string | null;
  at: Date;
}

/** More decisions than an object has. */
const DECISIONS_MAX = 20;

/** The earliest first. */
export function listPersonDecisions(
  db: Db,
  accountId: string,
  objectId: string,
): Promise<PersonDecision[]> {
  return db.query<PersonDecision>(
    `SELECT l.action, l.actor AS email, coalesce(u.name, '') AS name, l.reason, l.at
       FROM audit_log l LEFT JOIN users u ON u.kind = 'merchant' AND lower(u.email) = lower(l.actor)
      WHERE l.object_id = ? AND l.account_id = ? AND l.action = ANY (?::text[])
      ORDER BY l.id LIMIT ${DECISIONS_MAX}`,
    [objectId, accountId, [...PERSON_DECISIONS]],
  );
}
