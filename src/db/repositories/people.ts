/** The people of an account or of the console, and their invitations. */
import type { MerchantRole, UserKind } from '../../domain/users';
import { rows, type Db, type Tx } from '../transaction';

/** An account's merchants, or all operators. */
export type Team = { kind: 'merchant'; accountId: string } | { kind: 'operator' };

export interface Person {
  userId: string;
  email: string;
  name: string;
  role: string;
  hasSecondFactor: boolean;
  lastSignInAt: Date | null;
}

const SECOND_FACTOR = `EXISTS (SELECT FROM totp_secrets WHERE user_id = u.id AND confirmed_at IS NOT NULL)
  OR EXISTS (SELECT FROM passkeys WHERE user_id = u.id) AS has_second_factor`;

export const PEOPLE_MAX = 200;

/** Without those that were disabled or removed, by e-mail address. */
export async function listPeople(db: Db, team: Team): Promise<Person[]> {
  if (team.kind === 'operator') {
    return rows<Person>(
      db,
      `SELECT u.id AS user_id, u.email, u.name, u.operator_role AS role, ${SECOND_FACTOR},
              u.last_sign_in_at
         FROM users u WHERE u.kind = 'operator' AND u.disabled_at IS NULL
        ORDER BY lower(u.email) LIMIT ${PEOPLE_MAX}`,
    );
  }
  return rows<Person>(
    db,
    `SELECT u.id AS user_id, u.email, u.name, m.role, ${SECOND_FACTOR}, u.last_sign_in_at
       FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE m.account_id = ? AND u.disabled_at IS NULL
      ORDER BY lower(u.email) LIMIT ${PEOPLE_MAX}`,
    [team.accountId],
  );
}

export interface TeamMember {
  userId: string;
  email: string;
  role: string;
}

/**
 * Locks the rows of all who manage the team, and of one person, in one order: of two changes at the
 * same time the second one sees the first.
 */
export async function lockManagersAnd(
  tx: Tx,
  team: Team,
  userId: string,
): Promise<{ managers: number; person: TeamMember | null }> {
  const [top, sql, bindings] =
    team.kind === 'operator'
      ? [
          'admin',
          `SELECT id AS user_id, email, operator_role AS role FROM users
            WHERE kind = 'operator' AND disabled_at IS NULL AND (operator_role = 'admin' OR id = ?)
            ORDER BY id FOR UPDATE`,
          [userId],
        ]
      : [
          'owner',
          `SELECT m.user_id, u.email, m.role FROM memberships m JOIN users u ON u.id = m.user_id
            WHERE m.account_id = ? AND u.disabled_at IS NULL AND (m.role = 'owner' OR m.user_id = ?)
            ORDER BY m.user_id FOR UPDATE OF m`,
          [team.accountId, userId],
        ];
  const found = await rows<TeamMember>(tx, sql, bindings);
  return {
    managers: found.filter(({ role }) => role === top).length,
    person: found.find((one) => one.userId === userId) ?? null,
  };
}

export async function savePersonRole(
  tx: Tx,
  team: Team,
  userId: string,
  role: string,
): Promise<void> {
  if (team.kind === 'operator') {
    await rows(tx, 'UPDATE users SET operator_role = ? WHERE id = ?', [role, userId]);
  } else {
    const sql = 'UPDATE memberships SET role = ? WHERE user_id = ? AND account_id = ?';
    await rows(tx, sql, [role, userId, team.accountId]);
  }
}

/** Ends the sessions too. A removed operator is a disabled user, who can be invited again. */
export async function removePerson(tx: Tx, team: Team, userId: string): Promise<void> {
  if (team.kind === 'operator') {
    await rows(
      tx,
      'UPDATE users SET disabled_at = clock_timestamp(), removed_at = clock_timestamp() WHERE id = ?',
      [userId],
    );
  } else {
    const sql = 'DELETE FROM memberships WHERE user_id = ? AND account_id = ?';
    await rows(tx, sql, [userId, team.accountId]);
  }
  await rows(
    tx,
    `UPDATE sessions SET revoked_at = clock_timestamp()
      WHERE user_id = ? AND account_id IS NOT DISTINCT FROM ? AND revoked_at IS NULL`,
    [userId, team.kind === 'operator' ? null : team.accountId],
  );
}

/** In place of what a removed operator had. One who was disabled stays disabled. */
export async function reviveOperator(
  tx: Tx,
  user: { id: string; role: string; name: string; passwordHash: string },
): Promise<boolean> {
  const changed = await rows(
    tx,
    `UPDATE users SET disabled_at = NULL, removed_at = NULL, operator_role = ?, name = ?,
            password_hash = ?
      WHERE id = ? AND removed_at IS NOT NULL RETURNING id`,
    [user.role, user.name, user.passwordHash, user.id],
  );
  return changed.length === 1;
}

/** @returns false if the user belongs to the account already, or is bound to another one */
export async function addMembership(
  tx: Tx,
  { userId, accountId, role }: { userId: string; accountId: string; role: MerchantRole },
): Promise<boolean> {
  const added = await rows(
    tx,
    `INSERT INTO memberships (user_id, account_id, role)
     SELECT id, ?, ? FROM users
      WHERE id = ? AND (bound_account_id IS NULL OR bound_account_id = ?)
     ON CONFLICT DO NOTHING RETURNING user_id`,
    [accountId, role, userId, accountId],
  );
  return added.length === 1;
}

export interface Invitation {
  id: string;
  kind: UserKind;
  accountId: string | null;
  accountName: string | null;
  email: string;
  role: string;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

const INVITATION = `i.id, i.kind, i.account_id, a.name AS account_name, i.email, i.role, i.invited_by,
  i.created_at, i.expires_at`;
const OPEN = 'i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()';

export async function insertInvitation(
  tx: Tx,
  invitation: Pick<Invitation, 'id' | 'email' | 'role' | 'invitedBy'> & {
    tokenHash: Buffer;
    hours: number;
  },
  team: Team,
): Promise<void> {
  await rows(
    tx,
    `INSERT INTO invitations (id, token_hash, kind, account_id, email, role, invited_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, now() + ? * interval '1 hour')`,
    [
      invitation.id,
      invitation.tokenHash,
      team.kind,
      team.kind === 'operator' ? null : team.accountId,
      invitation.email,
      invitation.role,
      invitation.invitedBy,
      invitation.hours,
    ],
  );
}

/** That can still be accepted, newest first. */
export async function listInvitations(db: Db, team: Team): Promise<Invitation[]> {
  return rows<Invitation>(
    db,
    `SELECT ${INVITATION} FROM invitations i LEFT JOIN accounts a ON a.id = i.account_id
      WHERE i.kind = ? AND i.account_id IS NOT DISTINCT FROM ? AND ${OPEN}
      ORDER BY i.created_at DESC LIMIT ${PEOPLE_MAX}`,
    [team.kind, team.kind === 'operator' ? null : team.accountId],
  );
}

export async function countInvitations(tx: Tx, team: Team): Promise<number> {
  const [found] = await rows<{ count: number }>(
    tx,
    `SELECT count(*)::integer AS count FROM invitations i
      WHERE i.kind = ? AND i.account_id IS NOT DISTINCT FROM ? AND ${OPEN}`,
    [team.kind, team.kind === 'operator' ? null : team.accountId],
  );
  return found?.count ?? 0;
}

/** Null: unknown, accepted, revoked or expired. */
export async function findInvitation(
  db: Db | Tx,
  kind: UserKind,
  tokenHash: Buffer,
): Promise<Invitation | null> {
  const [found] = await rows<Invitation>(
    db,
    `SELECT ${INVITATION} FROM invitations i LEFT JOIN accounts a ON a.id = i.account_id
      WHERE i.token_hash = ? AND i.kind = ? AND ${OPEN}`,
    [tokenHash, kind],
  );
  return found ?? null;
}

/** Of two acceptances, one gets true. */
export async function useInvitation(tx: Tx, id: string): Promise<boolean> {
  const changed = await rows(
    tx,
    `UPDATE invitations SET accepted_at = clock_timestamp()
      WHERE id = ? AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now() RETURNING id`,
    [id],
  );
  return changed.length === 1;
}

/** Null: it is not an open invitation of this team. */
export async function revokeInvitation(
  tx: Tx,
  team: Team,
  id: string,
): Promise<{ email: string; role: string } | null> {
  const [revoked] = await rows<{ email: string; role: string }>(
    tx,
    `UPDATE invitations AS i SET revoked_at = clock_timestamp()
      WHERE i.id = ? AND i.kind = ? AND i.account_id IS NOT DISTINCT FROM ?
        AND i.accepted_at IS NULL AND i.revoked_at IS NULL RETURNING i.email, i.role`,
    [id, team.kind, team.kind === 'operator' ? null : team.accountId],
  );
  return revoked ?? null;
}
