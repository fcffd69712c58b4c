/** Sign-in by e-mail address and password, and the sessions that it opens. */
import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import {
  deleteAttempt,
  deleteOldAttempts,
  findSession,
  findUserByEmail,
  insertSession,
  listMemberships,
  listSessions as readSessions,
  noteSeen,
  noteSignIn,
  recordAttempt,
  revokeSessions,
  type Session,
  type SessionUser,
} from '../../db/repositories/users';
import { inTransaction, type Db } from '../../db/transaction';
import {
  type Actor,
  EMAIL_LENGTH_MAX,
  PASSWORD_LENGTH_MAX,
  SESSION_HOURS,
  type UserKind,
} from '../../domain/users';
import { newId } from '../../lib/new-id';
import { checkPassword, TooManySignIns } from './passwords';

export type { Session } from '../../db/repositories/users';

/**
 * The limits count failures of an e-mail address from one network, and of one network. An e-mail
 * address alone is never locked: a stranger could lock its owner out.
 */
const WINDOW_MINUTES = 15;
export const FAILURES_OF_PAIR_MAX = 5;
export const FAILURES_OF_NETWORK_MAX = 50;

const TOKEN_BYTES = 32;
const USER_AGENT_LENGTH = 300;

export interface SignInRequest {
  kind: UserKind;
  email: string;
  password: string;
  /** Empty if it is unknown. */
  address: string;
  userAgent: string;
}

export type SignInOutcome =
  /** The token is for the cookie and is not stored. */
  | { kind: 'signed_in'; token: string; hours: number }
  /** Unknown e-mail address, wrong password, disabled user, or no account: not told apart. */
  | { kind: 'refused' }
  | { kind: 'limited'; minutes: number }
  | { kind: 'busy' };

export async function signIn(db: Db, request: SignInRequest): Promise<SignInOutcome> {
  const { kind, email, password } = request;
  // Nobody has such an address; a limit for it would only store what a stranger sends.
  if (email.length > EMAIL_LENGTH_MAX || email.includes('\0')) return { kind: 'refused' };
  const address = knownAddress(request.address);
  const attempt = await recordAttempt(db, { kind, email, address, minutes: WINDOW_MINUTES });
  if (attempt.ofPair > FAILURES_OF_PAIR_MAX || attempt.ofNetwork > FAILURES_OF_NETWORK_MAX) {
    // It was not checked, so it does not prolong the wait.
    await deleteAttempt(db, attempt.id);
    return { kind: 'limited', minutes: WINDOW_MINUTES };
  }
  const user = await findUserByEmail(db, kind, email);
  const isRight = await tryPassword(user?.passwordHash ?? null, password);
  if (isRight === 'busy') {
    await deleteAttempt(db, attempt.id);
    return { kind: 'busy' };
  }
  if (!isRight || user === null || user.disabledAt !== null) return { kind: 'refused' };

  const [first] = kind === 'merchant' ? await listMemberships(db, user.id) : [];
  if (kind === 'merchant' && first === undefined) return { kind: 'refused' };
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const hours = SESSION_HOURS[kind].total;
  await inTransaction(db, async (tx) => {
    await insertSession(tx, {
      id: newId('session'),
      tokenHash: hashToken(token),
      userId: user.id,
      accountId: first?.accountId ?? null,
      address,
      userAgent: request.userAgent.slice(0, USER_AGENT_LENGTH),
      hours,
    });
    await noteSignIn(tx, user.id);
    await deleteAttempt(tx, attempt.id);
  });
  await deleteOldAttempts(db, WINDOW_MINUTES);
  return { kind: 'signed_in', token, hours };
}

async function tryPassword(stored: string | null, password: string): Promise<boolean | 'busy'> {
  try {
    return await checkPassword(stored, password.slice(0, PASSWORD_LENGTH_MAX + 1));
  } catch (error) {
    if (error instanceof TooManySignIns) return 'busy';
    throw error;
  }
}

/** A signed-in person. */
export interface SignedIn {
  sessionId: string;
  userId: string;
  email: string;
  actor: Actor;
}

/** Null: sign in again. */
export async function readSession(
  db: Db,
  kind: UserKind,
  token: string,
  address: string,
): Promise<SignedIn | null> {
  const tokenHash = hashToken(token);
  const found = await findSession(db, { kind, tokenHash, idleHours: SESSION_HOURS[kind].idle });
  if (found === null) return null;
  const actor = actorOf(found);
  if (actor === null) return null;
  if (found.isStale) await noteSeen(db, found.sessionId, knownAddress(address));
  const { sessionId, userId, email } = found;
  return { sessionId, userId, email, actor };
}

/** Null: the membership has ended. */
function actorOf(found: SessionUser): Actor | null {
  const { operatorRole, merchantRole, accountId, accountName } = found;
  if (operatorRole !== null) return { kind: 'operator', role: operatorRole };
  if (merchantRole === null || accountId === null || accountName === null) return null;
  return { kind: 'merchant', role: merchantRole, accountId, accountName };
}

export function listSessions(db: Db, { userId, actor }: SignedIn): Promise<Session[]> {
  return readSessions(db, userId, SESSION_HOURS[actor.kind].idle);
}

/** @returns false if it is not a session of this user, or has ended */
export async function revokeSession(db: Db, { userId }: SignedIn, id: string): Promise<boolean> {
  return (await revokeSessions(db, userId, id)) > 0;
}

/** Ends the session of the token, if it is one. */
export async function signOut(db: Db, kind: UserKind, token: string): Promise<void> {
  const session = await readSession(db, kind, token, '');
  if (session !== null) await revokeSession(db, session, session.sessionId);
}

/** What the pages of both kinds of users need. */
export interface UserSessions {
  signIn(request: SignInRequest): Promise<SignInOutcome>;
  signOut(kind: UserKind, token: string): Promise<void>;
  read(kind: UserKind, token: string, address: string): Promise<SignedIn | null>;
  list(user: SignedIn): Promise<Session[]>;
  revoke(user: SignedIn, id: string): Promise<boolean>;
}

export function createUserSessions(db: Db): UserSessions {
  return {
    signIn: (request) => signIn(db, request),
    signOut: (kind, token) => signOut(db, kind, token),
    read: (kind, token, address) => readSession(db, kind, token, address),
    list: (user) => listSessions(db, user),
    revoke: (user, id) => revokeSession(db, user, id),
  };
}

/** 256 random bits need no salt. */
function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function knownAddress(address: string): string | null {
  return isIP(address) === 0 ? null : address;
}
