/** Users, their accounts and their sessions. */
import { raw } from 'objection';
import type { MerchantRole, OperatorRole, UserKind } from '../../domain/users';
import { changeRow, insertNewRow, insertRow, now, rowsOf } from '../models';
import type { Db, Tx } from '../transaction';

/** A user without the password's hash. */
export interface User {
  id: string;
  kind: UserKind;
  email: string;
  /** Empty until the person enters it. */
  name: string;
  operatorRole: OperatorRole | null;
  /** The account that invited them, the only one that they may act in; null if an operator vouched. */
  boundAccountId: string | null;
  disabledAt: Date | null;
  /** The time when an admin removed this operator, who is disabled since. */
  removedAt: Date | null;
  lastSignInAt: Date | null;
  createdAt: Date;
}

export interface Membership {
  accountId: string;
  accountName: string;
  role: MerchantRole;
}

const Users = rowsOf<User>('users', {
  read: `id, kind, email, name, operator_role, bound_account_id, disabled_at, removed_at,
  last_sign_in_at, created_at`,
  writes:
    'id, kind, email, name, password_hash, operator_role, bound_account_id, disabled_at, removed_at',
});
const Sessions = rowsOf<NewSession>('sessions', {
  read: 'id',
  writes: `id, token_hash, user_id, account_id, address, user_agent, expires_at, signed_in_by,
    authenticated_at`,
});

/** SQL over `users u` and `memberships m`: whether the user may act in the account. */
const MAY_ACT = '(u.bound_account_id IS NULL OR u.bound_account_id = m.account_id)';

/** @returns null, and nothing is written, when the email address is already used */
export function insertUser(
  tx: Tx,
  user: Pick<User, 'id' | 'kind' | 'email' | 'name' | 'operatorRole' | 'boundAccountId'> & {
    passwordHash: string;
  },
): Promise<User | null> {
  return insertNewRow(tx, Users, raw('(kind, lower(email))'), user);
}

export async function insertMembership(
  tx: Tx,
  { userId, accountId, role }: { userId: string; accountId: string; role: MerchantRole },
): Promise<void> {
  await tx.query('INSERT INTO memberships (user_id, account_id, role) VALUES (?, ?, ?)', [
    userId,
    accountId,
    role,
  ]);
}

/** A user with the hash that a sign-in checks. */
export type StoredUser = User & { passwordHash: string };

export async function findUserByEmail(
  db: Db | Tx,
  kind: UserKind,
  email: string,
): Promise<StoredUser | null> {
  const [user] = await db.query<StoredUser>(
    `SELECT ${Users.read}, password_hash FROM users WHERE kind = ? AND lower(email) = lower(?)`,
    [kind, email],
  );
  return user ?? null;
}

/** The id in place of the address of a person who was removed. */
export async function findPerson(db: Db, id: string): Promise<{ name: string; email: string }> {
  const sql = 'SELECT name, email FROM users WHERE id = ?';
  const [user] = await db.query<{ name: string; email: string }>(sql, [id]);
  return user ?? { name: '', email: id };
}

export async function findUserById(db: Db | Tx, id: string): Promise<StoredUser | null> {
  const sql = `SELECT ${Users.read}, password_hash FROM users WHERE id = ?`;
  const [user] = await db.query<StoredUser>(sql, [id]);
  return user ?? null;
}

/** Locks the user's row until the transaction ends. */
export async function lockUser(tx: Tx, kind: UserKind, email: string): Promise<User | null> {
  const [user] = await tx.query<User>(
    `SELECT ${Users.read} FROM users WHERE kind = ? AND lower(email) = lower(?) FOR NO KEY UPDATE`,
    [kind, email],
  );
  return user ?? null;
}

/** Locks the user, so that no reset of the password ends the session until the transaction ends. */
export async function isSessionOpen(tx: Tx, userId: string, sessionId: string): Promise<boolean> {
  await tx.query('SELECT FROM users WHERE id = ? FOR NO KEY UPDATE', [userId]);
  // A statement of its own, which sees what the one before has waited for.
  const open = await tx.query(
    'SELECT FROM sessions WHERE id = ? AND user_id = ? AND revoked_at IS NULL',
    [sessionId, userId],
  );
  return open.length === 1;
}

/** All users, by kind and then by email address. */
export async function listUsers(db: Db): Promise<(User & { memberships: Membership[] })[]> {
  return db.query(
    `SELECT ${Users.read}, coalesce((
              SELECT jsonb_agg(jsonb_build_object('accountId', a.id, 'accountName', a.name,
                                                  'role', m.role) ORDER BY a.created_at, a.id)
                FROM memberships m JOIN accounts a ON a.id = m.account_id
               WHERE m.user_id = users.id), '[]') AS memberships
       FROM users ORDER BY kind, lower(email)`,
  );
}

/** The accounts that the user may act in, oldest membership first. */
export async function listMemberships(db: Db | Tx, userId: string): Promise<Membership[]> {
  return db.query<Membership>(
    `SELECT a.id AS account_id, a.name AS account_name, m.role
       FROM memberships m JOIN users u ON u.id = m.user_id JOIN accounts a ON a.id = m.account_id
      WHERE m.user_id = ? AND ${MAY_ACT} ORDER BY m.created_at, a.id`,
    [userId],
  );
}

export function saveDisabled(tx: Tx, id: string, disabled: boolean): Promise<User> {
  return changeRow(tx, Users, id, { disabledAt: disabled ? now : null, removedAt: null });
}

export function savePassword(tx: Tx, id: string, passwordHash: string): Promise<User> {
  return changeRow(tx, Users, id, { passwordHash });
}

/**
 * Vouches for the user, who may then act in every account that they belong to. @returns false if that
 * was so already
 */
export async function saveVouched(tx: Tx, id: string): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE users SET bound_account_id = NULL
      WHERE id = ? AND bound_account_id IS NOT NULL RETURNING id`,
    [id],
  );
  return changed.length === 1;
}

/**
 * Locks the user, so that a reset of the password ends the session that follows, or keeps it from being opened.
 * @param passwordHash that was checked; null if none
 * @returns null if the user has another password by now, or is disabled
 */
export async function noteSignIn(
  tx: Tx,
  id: string,
  passwordHash: string | null,
): Promise<User | null> {
  const [user] = await tx.query<User>(
    `UPDATE users SET last_sign_in_at = clock_timestamp()
      WHERE id = ? AND disabled_at IS NULL AND password_hash = coalesce(?, password_hash)
      RETURNING ${Users.read}`,
    [id, passwordHash],
  );
  return user ?? null;
}

/** An open session with its person. */
export interface Session {
  id: string;
  userId: string;
  address: string | null;
  userAgent: string;
  createdAt: Date;
  lastSeenAt: Date;
}

/**
 * `local`: with a password or a passkey. `directory`: at the operators' OpenID provider. `break_glass`: an
 * operator without that provider.
 */
export type SignedInBy = 'local' | 'directory' | 'break_glass';

/** A session to insert. */
export interface NewSession {
  id: string;
  tokenHash: Buffer;
  userId: string;
  accountId: string | null;
  address: string | null;
  userAgent: string;
  hours: number;
  signedInBy: SignedInBy;
  /** When the person proved who they are; null means just now. A clock that is ahead does not count. */
  authenticatedAt: Date | null;
}

export async function insertSession(tx: Tx, { hours, ...session }: NewSession): Promise<void> {
  await insertRow(tx, Sessions, {
    ...session,
    expiresAt: raw("now() + ? * interval '1 hour'", [hours]),
    authenticatedAt: raw('least(coalesce(?::timestamptz, now()), now())', [
      session.authenticatedAt,
    ]),
  });
}

/** The user of a valid session, with the role in force at this moment. */
export interface SessionUser {
  sessionId: string;
  userId: string;
  kind: UserKind;
  email: string;
  name: string;
  operatorRole: OperatorRole | null;
  accountId: string | null;
  accountName: string | null;
  merchantRole: MerchantRole | null;
  /** The number of accounts that the user may act in. */
  accounts: number;
  /** Whether the sign-in was in the last minutes, which PostgreSQL's clock tells. */
  isRecent: boolean;
  hasSecondFactor: boolean;
  needsSecondFactor: boolean;
  signedInBy: SignedInBy;
  /** The OpenID provider that knows the operator; null if none does. */
  issuer: string | null;
  /** The last use was not noted for a minute. */
  isStale: boolean;
}

/**
 * The user of a session. Null if there is no such session, it is revoked or over, or the user is
 * disabled.
 */
export async function findSession(
  db: Db,
  {
    kind,
    tokenHash,
    idleHours,
    recentMinutes,
  }: { kind: UserKind; tokenHash: Buffer; idleHours: number; recentMinutes: number },
): Promise<SessionUser | null> {
  const [found] = await db.query<SessionUser>(
    `SELECT s.id AS session_id, u.id AS user_id, u.kind, u.email, u.name, u.operator_role,
            m.account_id, a.name AS account_name, m.role AS merchant_role,
            s.authenticated_at > clock_timestamp() - ? * interval '1 minute' AS is_recent,
            (SELECT count(*)::integer FROM memberships m
              WHERE m.user_id = u.id AND ${MAY_ACT}) AS accounts,
            EXISTS (SELECT FROM totp_secrets WHERE user_id = u.id AND confirmed_at IS NOT NULL)
              OR EXISTS (SELECT FROM passkeys WHERE user_id = u.id) AS has_second_factor,
            EXISTS (SELECT FROM second_factor_policies
                     WHERE scope = coalesce(s.account_id, 'operators')) AS needs_second_factor,
            s.signed_in_by, i.issuer,
            s.last_seen_at < now() - interval '1 minute' AS is_stale
       FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN operator_identities i ON i.user_id = u.id
       LEFT JOIN memberships m
         ON m.user_id = u.id AND m.account_id = s.account_id AND ${MAY_ACT}
       LEFT JOIN accounts a ON a.id = m.account_id
      WHERE s.token_hash = ? AND u.kind = ? AND u.disabled_at IS NULL AND s.revoked_at IS NULL
        AND s.expires_at > now() AND s.last_seen_at > now() - ? * interval '1 hour'`,
    [recentMinutes, tokenHash, kind, idleHours],
  );
  return found ?? null;
}

/** The user whose session it is or was, also of one that has ended. */
export async function findSessionOwner(
  db: Db,
  kind: UserKind,
  tokenHash: Buffer,
): Promise<string | null> {
  const [found] = await db.query<{ id: string }>(
    `SELECT u.id FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.token_hash = ? AND u.kind = ?`,
    [tokenHash, kind],
  );
  return found?.id ?? null;
}

/** Notes that the session was used, and from where. */
export async function noteSeen(db: Db, sessionId: string, address: string | null): Promise<void> {
  const sql = 'UPDATE sessions SET last_seen_at = now(), address = ?::inet WHERE id = ?';
  await db.query(sql, [address, sessionId]);
}

/** Notes that the person has just proved again who they are. */
export async function noteAuthenticated(db: Db, sessionId: string): Promise<void> {
  await db.query('UPDATE sessions SET authenticated_at = now() WHERE id = ?', [sessionId]);
}

/** @returns false if the user does not belong to the account */
export async function saveSessionAccount(
  db: Db,
  { sessionId, userId, accountId }: { sessionId: string; userId: string; accountId: string },
): Promise<boolean> {
  const changed = await db.query(
    `UPDATE sessions SET account_id = m.account_id
       FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE sessions.id = ? AND sessions.user_id = ? AND m.user_id = ? AND m.account_id = ?
        AND ${MAY_ACT} RETURNING sessions.id`,
    [sessionId, userId, userId, accountId],
  );
  return changed.length === 1;
}

/** The user's sessions that are valid, the latest use first. */
export async function listSessions(db: Db, userId: string, idleHours: number): Promise<Session[]> {
  return db.query<Session>(
    `SELECT id, user_id, host(address) AS address, user_agent, created_at, last_seen_at FROM sessions
      WHERE user_id = ? AND revoked_at IS NULL AND expires_at > now()
        AND last_seen_at > now() - ? * interval '1 hour'
      ORDER BY last_seen_at DESC, id DESC LIMIT 100`,
    [userId, idleHours],
  );
}

/** Ends all sessions of the user but one. */
export async function revokeOtherSessions(tx: Tx, userId: string, kept: string): Promise<void> {
  await tx.query(
    `UPDATE sessions SET revoked_at = clock_timestamp()
      WHERE user_id = ? AND id <> ? AND revoked_at IS NULL`,
    [userId, kept],
  );
}

/** @param id the id of one session, or null for all of the user */
export async function revokeSessions(
  db: Db | Tx,
  userId: string,
  id: string | null,
): Promise<number> {
  const revoked = await db.query(
    `UPDATE sessions SET revoked_at = clock_timestamp()
      WHERE user_id = ? AND revoked_at IS NULL ${id === null ? '' : 'AND id = ?'} RETURNING id`,
    id === null ? [userId] : [userId, id],
  );
  return revoked.length;
}
