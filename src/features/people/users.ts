/** Users of the dashboard and the console, for an operator. */
import { randomBytes } from 'node:crypto';
import {
  deleteFactors,
  type FactorSummary,
  summarizeFactors,
} from '../../db/people/second-factors';
import {
  insertMembership,
  insertUser,
  lockUser,
  revokeOtherSessions,
  revokeSessions,
  saveDisabled,
  savePassword,
  saveVouched,
  type User,
} from '../../db/people/users';
import { isRelated } from '../../db/approvals/second-person';
import type { Db, Tx } from '../../db/transaction';
import {
  EMAIL_LENGTH_MAX,
  MERCHANT_ROLES,
  OPERATOR_ROLES,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  type UserKind,
} from '../../domain/users';
import { isPrintable } from '../../domain/printable';
import { newId } from '../../platform/lib/new-id';
import { presentUser } from '../../kit/service/admin';
import { requireAccount } from '../accounts/accounts';
import { makeChange, type ChangedBy } from '../../kit/service/audit';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import { hashPassword, normalPassword } from './passwords';
import { requireOpenSession, type SignedIn, sourceOf } from '../../kit/service/sessions';
import { isCommonPassword } from './common-passwords';

export { listUsers } from '../../db/people/users';

const EMAIL = /^[^\s@\p{C}]+@[^\s@\p{C}]+\.[^\s@\p{C}]+$/u;
const PASSWORD_BYTES = 15;
export const NAME_LENGTH_MAX = 100;

export interface NewUser {
  kind: UserKind;
  email: string;
  role: string;
  /** The account of a merchant's user. */
  accountId: string | null;
  /** Null if one is generated. */
  password: string | null;
}

export type UserWithPassword = User & { password: string };

/** @throws InvalidInput, and AdminRefusal when the email address is already used */
export async function createUser(db: Db, by: ChangedBy, wish: NewUser): Promise<UserWithPassword> {
  const { kind, accountId } = wish;
  const email = checkEmail(wish.email);
  const password = wish.password === null ? makePassword() : checkPasswordRule(wish.password);
  const passwordHash = await hashPassword(password);
  const operatorRole = kind === 'operator' ? checkRole(wish.role, OPERATOR_ROLES) : null;
  const role = kind === 'merchant' ? checkRole(wish.role, MERCHANT_ROLES) : null;
  return makeChange(db, by, async (tx) => {
    const id = newId('user');
    // An operator vouches for whom they create.
    const user = await insertUser(tx, {
      id,
      kind,
      email,
      name: '',
      operatorRole,
      boundAccountId: null,
      passwordHash,
    });
    if (user === null) {
      throw new AdminRefusal({ code: 'email_taken', kind, email });
    }
    if (role !== null && accountId !== null) {
      await requireAccount(tx, accountId);
      await insertMembership(tx, { userId: id, accountId, role });
    }
    const after = { ...presentUser(user), ...(role === null ? {} : { role }) };
    return {
      result: { ...user, password },
      audit: { ...auditHead(user), action: 'user.create', accountId, before: null, after },
    };
  });
}

/** Ends all sessions as well. @throws AdminRefusal */
export async function disableUser(
  db: Db,
  by: ChangedBy,
  kind: UserKind,
  email: string,
  disabled: boolean,
): Promise<User> {
  return makeChange(db, by, async (tx) => {
    const before = await requireUser(tx, kind, email);
    const after = await saveDisabled(tx, before.id, disabled);
    if (disabled) await revokeSessions(tx, before.id, null);
    const action = disabled ? 'user.disable' : 'user.enable';
    return {
      result: after,
      audit: {
        ...auditHead(after),
        action,
        accountId: null,
        before: presentUser(before),
        after: presentUser(after),
      },
    };
  });
}

/** What a person who gets a new password can sign in with from now on, and what was removed. */
export type HandedOver = UserWithPassword & { removed: Pick<FactorSummary, 'totp' | 'passkeys'> };

/**
 * A new password for the person whom support has checked. All sessions end and all second factors are
 * removed: somebody else may have set them up. @throws AdminRefusal
 */
export function resetPassword(
  db: Db,
  by: ChangedBy,
  kind: UserKind,
  email: string,
): Promise<HandedOver> {
  return handOver(db, by, { kind, email, action: 'user.reset_password' });
}

/**
 * An operator has checked that the address of an invited user belongs to the person. They get the user
 * alone, as after a reset of the password, and may act in every account. @throws AdminRefusal
 */
export function vouchForUser(db: Db, by: ChangedBy, email: string): Promise<HandedOver> {
  return handOver(db, by, { kind: 'merchant', email, action: 'user.vouch' });
}

async function handOver(
  db: Db,
  by: ChangedBy,
  wish: { kind: UserKind; email: string; action: 'user.reset_password' | 'user.vouch' },
): Promise<HandedOver> {
  const { kind, email, action } = wish;
  const password = makePassword();
  const passwordHash = await hashPassword(password);
  return makeChange(db, by, async (tx) => {
    const before = await requireUser(tx, kind, email);
    if (
      action === 'user.vouch' &&
      !(await saveVouched(tx, before.id)) &&
      !(await isRelated(tx, before.id))
    ) {
      throw new AdminRefusal({ code: 'already_vouched', email: before.email });
    }
    const { totp, passkeys } = await summarizeFactors(tx, before.id);
    await deleteFactors(tx, before.id);
    await revokeSessions(tx, before.id, null);
    const user = await savePassword(tx, before.id, passwordHash);
    return {
      result: { ...user, password, removed: { totp, passkeys } },
      audit: {
        ...auditHead(user),
        action,
        accountId: null,
        before: { ...presentUser(before), totp, passkeys },
        after: { ...presentUser(user), totp: false, passkeys: 0 },
      },
    };
  });
}

/** By the user; the other sessions end. @throws InvalidInput */
export async function changeOwnPassword(db: Db, user: SignedIn, wish: string): Promise<void> {
  const passwordHash = await hashPassword(checkPasswordRule(wish));
  const { userId, sessionId, email, actor } = user;
  const by = { actor: email, reason: null, via: sourceOf(actor.kind) };
  await makeChange(db, by, async (tx) => {
    await requireOpenSession(tx, user);
    const saved = await savePassword(tx, userId, passwordHash);
    await revokeOtherSessions(tx, userId, sessionId);
    return {
      result: undefined,
      audit: {
        ...auditHead(saved),
        action: 'user.change_password',
        accountId: actor.kind === 'merchant' ? actor.accountId : null,
        before: null,
        after: presentUser(saved),
      },
    };
  });
}

/** For a person who lost the second factor; all sessions end. @throws AdminRefusal */
export async function resetSecondFactor(
  db: Db,
  by: ChangedBy,
  kind: UserKind,
  email: string,
): Promise<User> {
  return makeChange(db, by, async (tx) => {
    const user = await requireUser(tx, kind, email);
    const { totp, passkeys } = await summarizeFactors(tx, user.id);
    await deleteFactors(tx, user.id);
    await revokeSessions(tx, user.id, null);
    return {
      result: user,
      audit: {
        ...auditHead(user),
        action: 'user.reset_second_factor',
        accountId: null,
        before: { ...presentUser(user), totp, passkeys },
        after: { ...presentUser(user), totp: false, passkeys: 0 },
      },
    };
  });
}

async function requireUser(tx: Tx, kind: UserKind, email: string): Promise<User> {
  const user = await lockUser(tx, kind, email.trim());
  if (user !== null) return user;
  throw new AdminRefusal({ code: 'not_found', object: 'user', id: email });
}

function auditHead({ id }: User) {
  return { object: 'user', objectId: id };
}

export function checkEmail(text: string): string {
  const email = text.trim();
  if (email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email)) return email;
  throw new InvalidInput('email', { code: 'not_an_email', value: email });
}

/** Checks a person's name, which other people see. */
export function checkName(text: string): string {
  const name = text.trim();
  if (name === '') throw new InvalidInput('name', { code: 'empty' });
  if (name.length > NAME_LENGTH_MAX) {
    throw new InvalidInput('name', { code: 'too_long', length: name.length, max: NAME_LENGTH_MAX });
  }
  if (!isPrintable(name)) throw new InvalidInput('name', { code: 'not_printable' });
  return name;
}

/** @returns the password in the form that is hashed @throws InvalidInput */
export function checkPasswordRule(typed: string): string {
  const password = normalPassword(typed);
  const { length } = password;
  if (length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX) {
    if (isCommonPassword(password)) throw new InvalidInput('password', { code: 'password_common' });
    return password;
  }
  const range = { min: PASSWORD_LENGTH_MIN, max: PASSWORD_LENGTH_MAX };
  throw new InvalidInput('password', { code: 'password_length', length, ...range });
}

export function checkRole<Role extends string>(role: string, known: readonly Role[]): Role {
  const found = known.find((one) => one === role);
  if (found !== undefined) return found;
  throw new InvalidInput('role', { code: 'unknown_role', value: role, known });
}

export function makePassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}
