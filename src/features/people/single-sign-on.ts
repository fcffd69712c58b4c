/**
 * Single sign-on of operators at an OpenID provider (decisions/people#single-sign-on). Between the two requests the
 * browser holds an encrypted text, and the server stores nothing until the provider has answered.
 */
import { createHash, randomBytes } from 'node:crypto';
import { appendAudit } from '../../db/audit/audit-log';
import {
  deleteIdentity,
  findIdentity,
  insertIdentity,
  type KnownOperator,
  listBreakGlass,
  lockIdentified,
  type Subject,
} from '../../db/people/operator-identities';
import { dropRoleProposal, savePersonRole } from '../../db/people/people';
import { useChallenge } from '../../db/people/second-factors';
import { findUserByEmail, insertUser, lockUser, revokeSessions } from '../../db/people/users';
import type { Db, Tx } from '../../db/transaction';
import { isHigherRole, type OperatorRole } from '../../domain/users';
import { isPrintable } from '../../domain/printable';
import { newId } from '../../platform/lib/new-id';
import { openValue, sealValue, type SecretBox } from '../../platform/lib/secret-box';
import { wallClockMs } from '../../platform/lib/wall-clock';
import type { Challenge, Identity, OidcConfig, OidcProvider } from '../../adapters/oidc/provider';
import { type ChangedBy, makeChange } from '../../kit/service/audit';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import { hashPassword } from './passwords';
import {
  type Browser,
  noteProof,
  type OpenedSession,
  type SignedIn,
  startSession,
} from '../../kit/service/sessions';
import { checkBoth, type SignInRefusal } from './sign-in';
import { checkEmail, makePassword, NAME_LENGTH_MAX } from './users';

/** How long the visit to the provider may take, and the proof of an operator who is linked. */
export const TICKET_MINUTES = 10;
/** The provider's clock may differ from ours. */
const CLOCK_SKEW_MS = 30_000;

/** What the browser keeps while it is at the provider. */
interface Ticket extends Challenge {
  next: string;
  /** The session that is proved again; null means a sign-in. */
  sessionId: string | null;
  startedAtMs: number;
}

/** What the browser keeps while an operator of before proves that the identity is theirs. */
interface LinkTicket extends Subject {
  userId: string;
  email: string;
  role: OperatorRole;
  authenticatedAtMs: number | null;
  next: string;
}

/** Why nobody was signed in; the page says what to do (pages/single-sign-on.tsx). */
export type SingleSignOnRefusal =
  | 'expired'
  | 'not_accepted'
  | 'denied'
  | 'unavailable'
  | 'no_groups'
  | 'no_role'
  | 'no_email'
  | 'disabled'
  | 'email_of_another'
  | 'another_person'
  | 'not_recent';

type Refused = { kind: 'not_signed_in'; reason: SingleSignOnRefusal };

export type SingleSignOnOutcome =
  | (OpenedSession & { next: string })
  /** The person of the session has proved again who they are. */
  | { kind: 'proved'; next: string }
  /** An operator of before has the email address. The text is for a cookie. */
  | { kind: 'link'; ticket: string }
  | Refused;

export type SingleSignOn = ReturnType<typeof createSingleSignOn>;

export function createSingleSignOn(
  db: Db,
  box: SecretBox,
  { provider, config }: { provider: OidcProvider; config: OidcConfig },
) {
  const open = (userId: string, authenticatedAt: Date | null, browser: Browser) =>
    startSession(db, box, { id: userId, kind: 'operator' }, browser, {
      accountId: null,
      hours: config.sessionMinutes / 60,
      signedInBy: 'directory',
      // Unknown is not recent.
      authenticatedAt: authenticatedAt ?? new Date(0),
    });

  return {
    /** Who signed in without the provider lately. */
    breakGlass: () => listBreakGlass(db),
    /** @param session to prove again; null means a sign-in @returns null if the provider is unavailable */
    start: async (redirectUri: string, session: SignedIn | null, next: string) => {
      const challenge = { state: random(), nonce: random(), verifier: random() };
      const url = await provider.authorizationUrl(challenge, {
        redirectUri,
        anew: session !== null,
      });
      if (url === null) return null;
      const sessionId = session?.sessionId ?? null;
      const ticket: Ticket = { ...challenge, next, sessionId, startedAtMs: wallClockMs() };
      return { url, ticket: sealValue(box, ticket, 'single sign-on', TICKET_MINUTES) };
    },
    /** @param answer the address that the provider sent the browser to */
    finish: async (
      answer: URL,
      sealed: string,
      session: SignedIn | null,
      browser: Browser,
    ): Promise<SingleSignOnOutcome> => {
      const ticket = openValue(box, sealed, 'single sign-on') as Ticket | null;
      if (ticket === null || (await wasUsed(db, ticket))) return refuse('expired');
      const answered = await provider.identify(ticket, answer);
      if (answered.kind !== 'identified') return refuse(answered.kind);
      const { identity } = answered;
      const { authenticatedAt } = identity;
      const { next } = ticket;
      const admitted = await admit(db, config, identity);
      if (admitted.kind === 'not_signed_in') return admitted;
      if (admitted.kind === 'link') {
        if (ticket.sessionId !== null) return refuse('another_person');
        const authenticatedAtMs = authenticatedAt?.getTime() ?? null;
        const link: LinkTicket = { ...admitted.link, authenticatedAtMs, next };
        return { kind: 'link', ticket: sealValue(box, link, 'link', TICKET_MINUTES) };
      }
      if (ticket.sessionId === null) {
        const opened = await open(admitted.userId, authenticatedAt, browser);
        return opened === null ? refuse('disabled') : { ...opened, next };
      }
      if (session?.sessionId !== ticket.sessionId) return refuse('expired');
      if (session.userId !== admitted.userId) return refuse('another_person');
      const since = ticket.startedAtMs - CLOCK_SKEW_MS;
      if (authenticatedAt === null || authenticatedAt.getTime() < since)
        return refuse('not_recent');
      await noteProof(db, session);
      return { kind: 'proved', next };
    },
    /** The operator whom the ticket asks to prove that the identity is theirs; null if it has expired. */
    readLink: (sealed: string) => openValue(box, sealed, 'link') as LinkTicket | null,
    /** The password and second factor of before, once: from then on the provider signs the operator in. */
    link: async (
      ticket: LinkTicket,
      proof: { password: string; code: string },
      browser: Browser,
    ): Promise<OpenedSession | SignInRefusal> => {
      const user = { userId: ticket.userId, email: ticket.email, kind: 'operator' } as const;
      const checked = await checkBoth(db, box, user, proof, browser);
      if (checked.kind !== 'passed') return checked;
      const isLinked = await db.transaction(async (tx) => {
        const now = await lockUser(tx, 'operator', ticket.email);
        if (now?.id !== ticket.userId || now.disabledAt !== null || now.operatorRole === null) {
          return false;
        }
        if (!(await insertIdentity(tx, now.id, ticket))) return false;
        await audit(tx, now, 'user.link_identity', null, subjectOf(ticket));
        await changeRole(tx, { ...now, operatorRole: now.operatorRole }, ticket.role);
        return true;
      });
      if (!isLinked) return { kind: 'refused' };
      const { authenticatedAtMs } = ticket;
      const at = authenticatedAtMs === null ? null : new Date(authenticatedAtMs);
      return (await open(ticket.userId, at, browser)) ?? { kind: 'refused' };
    },
    /** Where the person signs out of the provider; null if it has no such page. */
    signOutUrl: (returnTo: string) => provider.signOutUrl(returnTo),
  };
}

type Admitted =
  | { kind: 'admitted'; userId: string }
  | { kind: 'link'; link: Omit<LinkTicket, 'authenticatedAtMs' | 'next'> }
  | Refused;

/** The hash of a password that nobody has. */
let unusable: Promise<string> | undefined;

/** Finds or makes the operator of an identity, with the role of its groups. */
async function admit(db: Db, config: OidcConfig, identity: Identity): Promise<Admitted> {
  const role = roleOf(config, identity);
  const passwordHash = await (unusable ??= hashPassword(makePassword()));
  return db.transaction(async (tx) => {
    const known = await lockIdentified(tx, identity);
    if (known !== null && known.disabledAt !== null) return refuse('disabled');
    // An answer without the groups says nothing about the role, so nothing changes.
    if (identity.groups === null) return refuse('no_groups');
    if (known !== null) return admitKnown(tx, known, role);
    if (role === null) return refuse('no_role');
    const email = checkedEmail(identity.email);
    if (email === null) return refuse('no_email');
    const id = newId('user');
    const name = isPrintable(identity.name) ? identity.name.trim().slice(0, NAME_LENGTH_MAX) : '';
    const own = { id, kind: 'operator', email, name, operatorRole: role } as const;
    const inserted = await insertUser(tx, { ...own, boundAccountId: null, passwordHash });
    if (inserted === null) return admitNamed(tx, email, identity, role);
    if (!(await insertIdentity(tx, id, identity))) throw new Error('the subject was just taken');
    await audit(tx, inserted, 'user.join', null, { role, ...subjectOf(identity) });
    return { kind: 'admitted', userId: id };
  });
}

async function admitKnown(
  tx: Tx,
  known: KnownOperator,
  role: OperatorRole | null,
): Promise<Admitted> {
  // Without a group, the operator is out: an approval of before does not count either.
  await changeRole(tx, known, role ?? 'viewer');
  if (role !== null) return { kind: 'admitted', userId: known.id };
  await revokeSessions(tx, known.id, null);
  return refuse('no_role');
}

/** An operator has the email address already. The address alone proves nothing. */
async function admitNamed(
  tx: Tx,
  email: string,
  { issuer, subject }: Identity,
  role: OperatorRole,
): Promise<Admitted> {
  const operator = await findUserByEmail(tx, 'operator', email);
  if (operator === null) return refuse('expired');
  if (operator.disabledAt !== null) return refuse('disabled');
  const identity = await findIdentity(tx, operator.id);
  // Two first sign-ins of one person at the same time: the other one was faster.
  if (identity?.issuer === issuer && identity.subject === subject) {
    return { kind: 'admitted', userId: operator.id };
  }
  if (identity !== null) return refuse('email_of_another');
  const link = { issuer, subject, userId: operator.id, email: operator.email, role };
  return { kind: 'link', link };
}

async function changeRole(tx: Tx, operator: KnownOperator, role: OperatorRole): Promise<void> {
  // The groups decide, so a role that an admin proposed before has no effect.
  await dropRoleProposal(tx, operator.id);
  if (role === operator.operatorRole) return;
  await savePersonRole(tx, { kind: 'operator' }, operator.id, role);
  const before = { role: operator.operatorRole };
  await audit(tx, operator, 'user.change_role', before, { role, by: 'single sign-on' });
}

async function audit(
  tx: Tx,
  { id, email }: { id: string; email: string },
  action: string,
  before: object | null,
  after: object,
): Promise<void> {
  await appendAudit(tx, {
    ...{ actor: email, via: 'console', action, object: 'user', objectId: id, accountId: null },
    ...{ reason: null, before: before === null ? null : { object: 'user', email, ...before } },
    after: { object: 'user', email, ...after },
  });
}

/**
 * For the admin command: the subject of an operator who cannot prove it on the page, or another one. Ends
 * all sessions. @throws AdminRefusal
 */
export async function linkOperator(
  db: Db,
  by: ChangedBy,
  email: string,
  subject: Subject | null,
): Promise<{ email: string } & Partial<Subject>> {
  return makeChange(db, by, async (tx) => {
    const user = await lockUser(tx, 'operator', email.trim());
    if (user === null) throw new AdminRefusal({ code: 'not_found', object: 'user', id: email });
    const before = await findIdentity(tx, user.id);
    await deleteIdentity(tx, user.id);
    if (subject !== null && !(await insertIdentity(tx, user.id, subject))) {
      throw new AdminRefusal({ code: 'identity_taken', subject: subject.subject });
    }
    await revokeSessions(tx, user.id, null);
    const shown = (one: Subject | null) => ({
      ...{ object: 'user', email: user.email },
      ...(one === null ? {} : subjectOf(one)),
    });
    return {
      result: { email: user.email, ...(subject ?? {}) },
      audit: {
        ...{ object: 'user', objectId: user.id, accountId: null },
        action: subject === null ? 'user.unlink_identity' : 'user.link_identity',
        before: shown(before),
        after: shown(subject),
      },
    };
  });
}

/** The highest role of the person's groups; null if no group has one. */
function roleOf({ roleOfGroup }: OidcConfig, { groups }: Identity): OperatorRole | null {
  const roles = (groups ?? []).flatMap((group) => roleOfGroup.get(group) ?? []);
  return roles.reduce<OperatorRole | null>(
    (best, role) => (best === null || isHigherRole(role, best) ? role : best),
    null,
  );
}

function checkedEmail(email: string | null): string | null {
  if (email === null) return null;
  try {
    return checkEmail(email);
  } catch (error) {
    if (error instanceof InvalidInput) return null;
    throw error;
  }
}

/** A state that has come back once is used, whatever the provider says of its code. */
async function wasUsed(db: Db, { state }: Ticket): Promise<boolean> {
  const hash = createHash('sha256').update(state).digest();
  return !(await db.transaction((tx) => useChallenge(tx, hash, TICKET_MINUTES)));
}

function subjectOf({ issuer, subject }: Subject): Subject {
  return { issuer, subject };
}

function refuse(reason: SingleSignOnRefusal): Refused {
  return { kind: 'not_signed_in', reason };
}

function random(): string {
  return randomBytes(32).toString('base64url');
}
