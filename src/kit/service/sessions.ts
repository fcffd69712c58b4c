/** Sessions of users: opened by a sign-in, read by every page, listed and ended by their user. */
import { createHash, randomBytes } from 'node:crypto';
import { appendAudit, type AuditSource, type NewAuditEntry } from '../../db/audit/audit-log';
import {
  findSession,
  findSessionOwner,
  insertSession,
  isSessionOpen,
  listMemberships,
  listSessions as readSessions,
  type NewSession,
  noteAuthenticated,
  noteSeen,
  noteSignIn,
  revokeSessions,
  saveSessionAccount,
  type SessionUser,
  type SignedInBy,
} from '../../db/people/users';
import type { Db, Tx } from '../../db/transaction';
import { type Actor, type MerchantRole, SESSION_HOURS, type UserKind } from '../../domain/users';
import { newId } from '../../platform/lib/new-id';
import { openValue, sealValue, type SecretBox } from '../../platform/lib/secret-box';
import type { ChangedBy } from './audit';
import { AdminRefusal } from './refusal';
import { knownAddress } from './attempts';

export type { Session } from '../../db/people/users';

const TOKEN_BYTES = 32;
const USER_AGENT_LENGTH = 300;
/** A browser is known for as long after its last sign-in. */
export const DEVICE_DAYS = 90;
/** For actions that ask the person to sign in again. */
const RECENT_MINUTES = 10;

/** Where a request comes from. */
export interface Browser {
  /** Empty if it is unknown. */
  address: string;
  userAgent: string;
  /** The cookie of an earlier sign-in in this browser. */
  device: string | null;
}

/** The texts are for cookies; the token is not stored. */
export interface OpenedSession {
  kind: 'signed_in';
  token: string;
  hours: number;
  device: string;
}

/** A signed-in person. */
export interface SignedIn {
  sessionId: string;
  userId: string;
  email: string;
  /** Empty until the person enters it. */
  name: string;
  actor: Actor;
  /** That the person may switch between. */
  accounts: number;
  /** The last sign-in was minutes ago. If not, the person signs in again before an action that matters. */
  isRecent: boolean;
  /** A second factor is required, and the person has none yet: nothing else is served. */
  mustEnrol: boolean;
  /** An operator whom the OpenID provider signed in. It also asks for the second factor. */
  byDirectory: boolean;
}

/** How operators sign in. */
export interface SignInRules {
  /** Their OpenID provider; null if passwords and passkeys sign in. */
  issuer: string | null;
  /** The email addresses, in lower case, of those who may sign in without it. */
  breakGlass: ReadonlySet<string>;
  /** One of them did. */
  onBreakGlass: () => void;
}

/** What a sign-in with a password or a passkey is; null if it is not accepted. */
export function localSignIn(
  { issuer, breakGlass }: SignInRules,
  { kind, email }: { kind: UserKind; email: string },
): Exclude<SignedInBy, 'directory'> | null {
  if (kind === 'merchant' || issuer === null) return 'local';
  return breakGlass.has(email.toLowerCase()) ? 'break_glass' : null;
}

/**
 * After a password or a passkey. Null for a merchant without an account, the rules do not accept it, or the
 * password was changed meanwhile.
 */
export async function openSession(
  db: Db,
  box: SecretBox,
  rules: SignInRules,
  user: { id: string; kind: UserKind; email: string; passwordHash?: string },
  browser: Browser,
): Promise<OpenedSession | null> {
  const { id, kind } = user;
  const signedInBy = localSignIn(rules, user);
  const [first] = kind === 'merchant' ? await listMemberships(db, id) : [];
  if (signedInBy === null || (kind === 'merchant' && first === undefined)) return null;
  const opened = await startSession(db, box, user, browser, {
    accountId: first?.accountId ?? null,
    hours: SESSION_HOURS[kind].total,
    signedInBy,
    authenticatedAt: null,
  });
  if (opened !== null && signedInBy === 'break_glass') rules.onBreakGlass();
  return opened;
}

type NewSignIn = Pick<NewSession, 'accountId' | 'hours' | 'signedInBy' | 'authenticatedAt'>;

/** Null if the user is disabled, or has another password by now. */
export async function startSession(
  db: Db,
  box: SecretBox,
  { id, kind, passwordHash = null }: { id: string; kind: UserKind; passwordHash?: string | null },
  browser: Browser,
  signIn: NewSignIn,
): Promise<OpenedSession | null> {
  const token = newToken();
  const { accountId, hours, signedInBy } = signIn;
  const isOpened = await db.transaction(async (tx) => {
    const user = await noteSignIn(tx, id, passwordHash);
    if (user === null) return false;
    await insertSession(tx, {
      ...signIn,
      id: newId('session'),
      tokenHash: hashToken(token),
      userId: id,
      address: knownAddress(browser.address),
      userAgent: browser.userAgent.slice(0, USER_AGENT_LENGTH),
    });
    await appendAudit(tx, {
      actor: user.email,
      via: sourceOf(kind),
      address: browser.address,
      action: AUDITED[signedInBy],
      object: 'user',
      objectId: id,
      accountId,
      before: null,
      after: null,
      reason: null,
    });
    return true;
  });
  if (!isOpened) return null;
  return { kind: 'signed_in', token, hours, device: makeDevice(box, id, browser.device) };
}

const AUDITED: Record<SignedInBy, string> = {
  local: 'user.sign_in',
  directory: 'user.single_sign_on',
  break_glass: 'user.break_glass_sign_in',
};

/** For the audit log. */
export function sourceOf(kind: UserKind): AuditSource {
  return kind === 'merchant' ? 'dashboard' : 'console';
}

/** For the audit log. */
export function changedBy({ email, actor }: SignedIn): ChangedBy {
  return { actor: email, reason: null, via: sourceOf(actor.kind) };
}

/** The account of a merchant's user; null for an operator. */
export function accountOf({ actor }: SignedIn): string | null {
  return actor.kind === 'merchant' ? actor.accountId : null;
}

/**
 * Nobody changes how they sign in with a session that a reset of their password ends at the same moment: one
 * of the two has to wait for the other. @throws AdminRefusal
 */
export async function requireOpenSession(
  tx: Tx,
  { userId, sessionId }: Pick<SignedIn, 'userId' | 'sessionId'>,
): Promise<void> {
  if (await isSessionOpen(tx, userId, sessionId)) return;
  throw new AdminRefusal({ code: 'not_found', object: 'session', id: sessionId });
}

/** A change that a person made to how they sign in. @throws AdminRefusal when the session has ended */
export async function noteOwnChange(
  tx: Tx,
  user: SignedIn,
  action: string,
  { before = null, after = null }: Partial<Pick<NewAuditEntry, 'before' | 'after'>> = {},
): Promise<void> {
  await requireOpenSession(tx, user);
  const object = { object: 'user', objectId: user.userId, accountId: accountOf(user) };
  await appendAudit(tx, { ...changedBy(user), ...object, action, before, after });
}

/** The browser keeps its id, so that its budget of attempts does not start anew. */
function makeDevice(box: SecretBox, userId: string, earlier: string | null): string {
  const device = readDevice(box, userId, earlier) ?? randomBytes(16).toString('base64url');
  return sealValue(box, device, `device of ${userId}`, DEVICE_DAYS * 1_440);
}

/** The id of a browser in which this user signed in before. */
export function readDevice(box: SecretBox, userId: string, sealed: string | null): string | null {
  if (sealed === null) return null;
  return openValue(box, sealed, `device of ${userId}`) as string | null;
}

/** Null: sign in again. */
export async function readSession(
  db: Db,
  rules: SignInRules,
  kind: UserKind,
  token: string,
  address: string,
): Promise<SignedIn | null> {
  const tokenHash = hashToken(token);
  const ages = { idleHours: SESSION_HOURS[kind].idle, recentMinutes: RECENT_MINUTES };
  const found = await findSession(db, { kind, tokenHash, ...ages });
  if (found === null || !isAccepted(rules, found)) return null;
  const actor = actorOf(found);
  if (actor === null) return null;
  if (found.isStale) await noteSeen(db, found.sessionId, knownAddress(address));
  const { sessionId, userId, email, name, accounts, isRecent } = found;
  const byDirectory = found.signedInBy === 'directory';
  const mustEnrol = found.needsSecondFactor && !found.hasSecondFactor && !byDirectory;
  const user = { sessionId, userId, email, name, actor, accounts, isRecent };
  return { ...user, mustEnrol, byDirectory };
}

/** A change of the settings holds for the sessions of before it as well. */
function isAccepted(rules: SignInRules, found: SessionUser): boolean {
  if (found.signedInBy === 'directory') {
    return rules.issuer !== null && found.issuer === rules.issuer;
  }
  const now = localSignIn(rules, found);
  return now === 'local' || now === found.signedInBy;
}

/** Null if the membership has ended. */
function actorOf(found: SessionUser): Actor | null {
  const { operatorRole, merchantRole, accountId, accountName } = found;
  if (operatorRole !== null) return { kind: 'operator', role: operatorRole };
  if (merchantRole === null || accountId === null || accountName === null) return null;
  return { kind: 'merchant', role: merchantRole, accountId, accountName };
}

export interface OwnAccount {
  accountId: string;
  accountName: string;
  role: MerchantRole;
}

export function createUserSessions(db: Db, rules: SignInRules) {
  /** @returns false if it is not a session of this user, or has ended */
  const revoke = async ({ userId }: SignedIn, id: string) =>
    (await revokeSessions(db, userId, id)) > 0;
  return {
    read: (kind: UserKind, token: string, address: string) =>
      readSession(db, rules, kind, token, address),
    /** The user whose session it is, or was until it ended. */
    ownerOf: (kind: UserKind, token: string) => findSessionOwner(db, kind, hashToken(token)),
    list: ({ userId, actor }: SignedIn) => readSessions(db, userId, SESSION_HOURS[actor.kind].idle),
    revoke,
    /** Ends the session of the token, if it is one. */
    signOut: async (kind: UserKind, token: string) => {
      const session = await readSession(db, rules, kind, token, '');
      if (session !== null) await revoke(session, session.sessionId);
    },
    accounts: ({ userId }: SignedIn) => listMemberships(db, userId),
    /** @returns false if the user does not belong to the account */
    switchTo: ({ sessionId, userId }: SignedIn, accountId: string) =>
      saveSessionAccount(db, { sessionId, userId, accountId }),
  };
}

/** The person has proved again who they are. */
export function noteProof(db: Db, { sessionId }: SignedIn): Promise<void> {
  return noteAuthenticated(db, sessionId);
}

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** 256 random bits need no salt. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
