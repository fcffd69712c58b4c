/** The people of an account or of the console, and their invitations. */
import { raw } from 'objection';
import type { MerchantRole, UserKind } from '../../domain/users';
import { insertRow, rowsOf } from '../models';
import type { Db, Tx } from '../transaction';
import type { MessageStatus } from '../notifications/messages';
import { areRelatedByEmail } from '../approvals/related-operators';

/** An account's merchants, or all operators. */
export type Team = { kind: 'merchant'; accountId: string } | { kind: 'operator' };

export interface Person {
  userId: string;
  email: string;
  name: string;
  role: string;
  hasSecondFactor: boolean;
  /** An operator whom the OpenID provider knows. */
  byDirectory: boolean;
  lastSignInAt: Date | null;
  /** A higher role of an operator that another admin has not approved yet. */
  proposal: { role: string; proposedBy: string } | null;
}

const SECOND_FACTOR = `EXISTS (SELECT FROM totp_secrets WHERE user_id = u.id AND confirmed_at IS NOT NULL)
  OR EXISTS (SELECT FROM passkeys WHERE user_id = u.id) AS has_second_factor`;

/** The most people and invitations of a team. */
export const PEOPLE_MAX = 200;

const ROLE_OPEN = "p.created_at > clock_timestamp() - interval '7 days'";

/** The people of a team by email address, without those that were disabled or removed. */
export async function listPeople(db: Db, team: Team): Promise<Person[]> {
  if (team.kind === 'operator') {
    return db.query<Person>(
      `SELECT u.id AS user_id, u.email, u.name, u.operator_role AS role, ${SECOND_FACTOR},
              u.last_sign_in_at,
              EXISTS (SELECT FROM operator_identities WHERE user_id = u.id) AS by_directory,
              CASE WHEN p.user_id IS NOT NULL
                THEN jsonb_build_object('role', p.role, 'proposedBy', p.proposed_by) END AS proposal
         FROM users u LEFT JOIN operator_role_proposals p ON p.user_id = u.id AND ${ROLE_OPEN}
        WHERE u.kind = 'operator' AND u.disabled_at IS NULL
        ORDER BY lower(u.email) LIMIT ${PEOPLE_MAX}`,
    );
  }
  return db.query<Person>(
    `SELECT u.id AS user_id, u.email, u.name, m.role, ${SECOND_FACTOR}, u.last_sign_in_at,
            false AS by_directory, NULL AS proposal
       FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE m.account_id = ? AND u.disabled_at IS NULL
      ORDER BY lower(u.email) LIMIT ${PEOPLE_MAX}`,
    [team.accountId],
  );
}

/** A person of a team with role and rights. */
export interface TeamMember {
  userId: string;
  email: string;
  role: string;
}

/**
 * Locks the rows of all who manage the team, and of one person, in one order, so that the second of two
 * changes at the same time sees the first.
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
  const found = await tx.query<TeamMember>(sql, bindings);
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
    await tx.query('UPDATE users SET operator_role = ? WHERE id = ?', [role, userId]);
  } else {
    const sql = 'UPDATE memberships SET role = ? WHERE user_id = ? AND account_id = ?';
    await tx.query(sql, [role, userId, team.accountId]);
  }
}

/** Proposes a role in place of an earlier proposal. */
export async function proposeRole(
  tx: Tx,
  { userId, role, proposedBy }: { userId: string; role: string; proposedBy: string },
): Promise<void> {
  await dropRoleProposal(tx, userId);
  await tx.query(
    'INSERT INTO operator_role_proposals (user_id, role, proposed_by) VALUES (?, ?, ?)',
    [userId, role, proposedBy],
  );
}

export async function dropRoleProposal(tx: Tx, userId: string): Promise<boolean> {
  const sql = 'DELETE FROM operator_role_proposals WHERE user_id = ? RETURNING user_id';
  return (await tx.query(sql, [userId])).length > 0;
}

/** A proposed role of an operator. */
export interface RoleProposal {
  role: string;
  proposedBy: string;
}

export async function findRoleProposal(tx: Tx, userId: string): Promise<RoleProposal | null> {
  const [found] = await tx.query<RoleProposal>(
    `SELECT p.role, p.proposed_by FROM operator_role_proposals p WHERE p.user_id = ? AND ${ROLE_OPEN}`,
    [userId],
  );
  return found ?? null;
}

/**
 * SQL: whether this is another admin than the one who proposed, who is still an admin and not related.
 */
const BY_ANOTHER_ADMIN = (proposedBy: string): string =>
  `lower(${proposedBy}) <> lower(?) AND NOT ${areRelatedByEmail(proposedBy, '?')}
        AND EXISTS (SELECT FROM users a WHERE lower(a.email) = lower(${proposedBy})
                       AND a.kind = 'operator' AND a.operator_role = 'admin' AND a.disabled_at IS NULL)`;

/**
 * Ends the proposal for an approval. False if this admin may not approve it, or another request was
 * faster.
 */
export async function takeRoleProposal(tx: Tx, userId: string, by: string): Promise<boolean> {
  const taken = await tx.query(
    `DELETE FROM operator_role_proposals p
      WHERE p.user_id = ? AND ${ROLE_OPEN} AND ${BY_ANOTHER_ADMIN('p.proposed_by')}
      RETURNING p.user_id`,
    [userId, by, by],
  );
  return taken.length > 0;
}

/**
 * Removes a person and ends the sessions. A removed operator is a disabled user, whom the admin command
 * can enable.
 */
export async function removePerson(tx: Tx, team: Team, userId: string): Promise<void> {
  if (team.kind === 'operator') {
    await tx.query(
      'UPDATE users SET disabled_at = clock_timestamp(), removed_at = clock_timestamp() WHERE id = ?',
      [userId],
    );
  } else {
    const sql = 'DELETE FROM memberships WHERE user_id = ? AND account_id = ?';
    await tx.query(sql, [userId, team.accountId]);
  }
  await tx.query(
    `UPDATE sessions SET revoked_at = clock_timestamp()
      WHERE user_id = ? AND account_id IS NOT DISTINCT FROM ? AND revoked_at IS NULL`,
    [userId, team.kind === 'operator' ? null : team.accountId],
  );
}

/** @returns false if the user belongs to the account already, or is bound to another one */
export async function addMembership(
  tx: Tx,
  { userId, accountId, role }: { userId: string; accountId: string; role: MerchantRole },
): Promise<boolean> {
  const added = await tx.query(
    `INSERT INTO memberships (user_id, account_id, role)
     SELECT id, ?, ? FROM users
      WHERE id = ? AND (bound_account_id IS NULL OR bound_account_id = ?)
     ON CONFLICT DO NOTHING RETURNING user_id`,
    [accountId, role, userId, accountId],
  );
  return added.length === 1;
}

/** An invitation as stored. */
export interface Invitation {
  id: string;
  kind: UserKind;
  accountId: string | null;
  accountName: string | null;
  email: string;
  role: string;
  invitedBy: string;
  /** The other admin who approved an operator's invitation. Null if the link does not work yet. */
  approvedBy: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** When the mail got its token. Null if the person who invited has the link. */
  mailedAt: Date | null;
  /** What became of its mail. Null if there is none. */
  mail: MessageStatus | null;
}

const INVITATION = `i.id, i.kind, i.account_id, a.name AS account_name, i.email, i.role, i.invited_by,
  i.approved_by, i.created_at, i.expires_at, i.mailed_at,
  (SELECT m.status FROM link_mails m WHERE m.invitation_id = i.id) AS mail`;
const OPEN = 'i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()';
/** SQL: an operator's link works only when another admin has approved it. */
const APPROVED = "(i.kind = 'merchant' OR i.approved_by IS NOT NULL)";

const Invitations = rowsOf<Invitation>('invitations', {
  read: 'id',
  writes: 'id, token_hash, kind, account_id, email, role, invited_by, expires_at',
});

export async function insertInvitation(
  tx: Tx,
  {
    hours,
    ...invitation
  }: Pick<Invitation, 'id' | 'email' | 'role' | 'invitedBy'> & { tokenHash: Buffer; hours: number },
  team: Team,
): Promise<void> {
  await insertRow(tx, Invitations, {
    ...invitation,
    kind: team.kind,
    accountId: team.kind === 'operator' ? null : team.accountId,
    expiresAt: raw("now() + ? * interval '1 hour'", [hours]),
  });
}

/** The invitations that can still be accepted, newest first. */
export async function listInvitations(db: Db | Tx, team: Team): Promise<Invitation[]> {
  return db.query<Invitation>(
    `SELECT ${INVITATION} FROM invitations i LEFT JOIN accounts a ON a.id = i.account_id
      WHERE i.kind = ? AND i.account_id IS NOT DISTINCT FROM ? AND ${OPEN}
      ORDER BY i.created_at DESC LIMIT ${PEOPLE_MAX}`,
    [team.kind, team.kind === 'operator' ? null : team.accountId],
  );
}

export async function countInvitations(tx: Tx, team: Team): Promise<number> {
  const [found] = await tx.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM invitations i
      WHERE i.kind = ? AND i.account_id IS NOT DISTINCT FROM ? AND ${OPEN}`,
    [team.kind, team.kind === 'operator' ? null : team.accountId],
  );
  return found?.count ?? 0;
}

/** The open invitation of a token; null when it is unknown, accepted, revoked or expired. */
export async function findInvitation(
  db: Db | Tx,
  kind: UserKind,
  tokenHash: Buffer,
): Promise<Invitation | null> {
  const [found] = await db.query<Invitation>(
    `SELECT ${INVITATION} FROM invitations i LEFT JOIN accounts a ON a.id = i.account_id
      WHERE i.token_hash = ? AND i.kind = ? AND ${OPEN} AND ${APPROVED}`,
    [tokenHash, kind],
  );
  return found ?? null;
}

/** Uses the invitation. It returns true to only one of two acceptances at the same time. */
export async function useInvitation(tx: Tx, id: string): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE invitations AS i SET accepted_at = clock_timestamp()
      WHERE i.id = ? AND ${OPEN} AND ${APPROVED} RETURNING i.id`,
    [id],
  );
  return changed.length === 1;
}

/**
 * Approves an operator's invitation. Null if this admin may not approve it, it is approved already, or it
 * has ended.
 */
export async function approveInvitation(
  tx: Tx,
  id: string,
  by: string,
): Promise<{ email: string; role: string } | null> {
  const [approved] = await tx.query<{ email: string; role: string }>(
    `UPDATE invitations AS i SET approved_by = ?, approved_at = clock_timestamp()
      WHERE i.id = ? AND i.kind = 'operator' AND ${OPEN} AND i.approved_by IS NULL
        AND ${BY_ANOTHER_ADMIN('i.invited_by')} RETURNING i.email, i.role`,
    [by, id, by, by],
  );
  return approved ?? null;
}

/**
 * Lets the worker mail an open, approved invitation again. The mail gets another id, because mail programs
 * show two mails with the same one once; a mail that is being sent stays as it is. Null if the team has no
 * such invitation.
 */
export async function sendInvitationAgain(
  tx: Tx,
  team: Team,
  id: string,
  mailId: string,
): Promise<{ email: string; role: string } | null> {
  const [open] = await tx.query<{ email: string; role: string }>(
    `SELECT i.email, i.role FROM invitations i
      WHERE i.id = ? AND i.kind = ? AND i.account_id IS NOT DISTINCT FROM ? AND ${OPEN} AND ${APPROVED}`,
    [id, team.kind, team.kind === 'operator' ? null : team.accountId],
  );
  if (open === undefined) return null;
  await tx.query(
    `INSERT INTO link_mails AS m (id, kind, email, invitation_id, expires_at)
     SELECT ?, kind, email, id, expires_at FROM invitations WHERE id = ?
     ON CONFLICT (invitation_id) DO UPDATE
        SET id = excluded.id, status = 'waiting', last_error = NULL,
            created_at = clock_timestamp(), updated_at = clock_timestamp()
      WHERE m.status <> 'sending'`,
    [mailId, id],
  );
  return open;
}

/** Revokes an invitation. Null if it is not an open invitation of this team. */
export async function revokeInvitation(
  tx: Tx,
  team: Team,
  id: string,
): Promise<{ email: string; role: string } | null> {
  const [revoked] = await tx.query<{ email: string; role: string }>(
    `UPDATE invitations AS i SET revoked_at = clock_timestamp()
      WHERE i.id = ? AND i.kind = ? AND i.account_id IS NOT DISTINCT FROM ?
        AND i.accepted_at IS NULL AND i.revoked_at IS NULL RETURNING i.email, i.role`,
    [id, team.kind, team.kind === 'operator' ? null : team.accountId],
  );
  return revoked ?? null;
}
