/**
 * Sign-in: the password, then a second factor if the user has one. Between the two steps the browser
 * holds an encrypted text, and the server stores nothing.
 */
import { createHash } from 'node:crypto';
import { summarizeFactors } from '../../db/people/second-factors';
import { findUserByEmail, findUserById, type StoredUser } from '../../db/people/users';
import type { Db } from '../../db/transaction';
import { EMAIL_LENGTH_MAX, PASSWORD_LENGTH_MAX, type UserKind } from '../../domain/users';
import { openValue, sealValue, type SecretBox } from '../../platform/lib/secret-box';
import { type Checked, limitAttempts } from '../../kit/service/attempts';
import { checkPassword, TooManySignIns } from './passwords';
import { isAppCode, useCode } from './second-factors';
import {
  type Browser,
  localSignIn,
  noteProof,
  type OpenedSession,
  openSession,
  readDevice,
  type SignedIn,
  type SignInRules,
} from '../../kit/service/sessions';

/** Decomposed, a character of a password is at most so many code units. */
const DECOMPOSED_MAX = 4;
/** How long the second step may take. */
export const STEP_MINUTES = 10;

export interface SignInRequest extends Browser {
  kind: UserKind;
  email: string;
  password: string;
}

export type SignInRefusal =
  /** Unknown email address, wrong password, disabled user, or no account: the answer does not distinguish them. */
  { kind: 'refused' } | { kind: 'limited'; minutes: number } | { kind: 'busy' };

export type SignInOutcome =
  | OpenedSession
  /** The text is for a cookie. */
  | { kind: 'second_step'; step: string }
  /** Break-glass, of an operator without a second factor. */
  | { kind: 'no_second_factor' }
  | SignInRefusal;

/** What a person in the second step can use. */
export interface Step {
  userId: string;
  email: string;
  totp: boolean;
  passkeys: number;
}

export function createSignIn(db: Db, box: SecretBox, rules: SignInRules) {
  return {
    withPassword: async (request: SignInRequest): Promise<SignInOutcome> => {
      const checked = await checkPasswordOf(db, box, request);
      if (checked.kind !== 'passed') return checked;
      const user = checked.value;
      const signedInBy = localSignIn(rules, user);
      if (signedInBy === null) return { kind: 'refused' };
      const factors = await summarizeFactors(db, user.id);
      if (factors.totp || factors.passkeys > 0) {
        return { kind: 'second_step', step: sealStep(box, user) };
      }
      // The provider asks for a second factor, so the way around it does too.
      if (signedInBy === 'break_glass') return { kind: 'no_second_factor' };
      return (await openSession(db, box, rules, user, request)) ?? { kind: 'refused' };
    },
    step: (kind: UserKind, step: string) => readStep(db, box, kind, step),
    withCode: async (
      kind: UserKind,
      step: Step,
      code: string,
      browser: Browser,
    ): Promise<OpenedSession | SignInRefusal> => {
      const checked = await checkCodeOf(db, box, kind, step, code, browser);
      if (checked.kind !== 'passed') return checked;
      const user = { id: step.userId, kind, email: step.email };
      return (await openSession(db, box, rules, user, browser)) ?? { kind: 'refused' };
    },
    /** Proves again who a signed-in person is. @param code of a person with a second factor */
    again: async (
      user: SignedIn,
      { password, code }: { password: string; code: string },
      browser: Browser,
    ): Promise<{ kind: 'passed' } | SignInRefusal> => {
      // What the provider signed in, it signs in again.
      if (user.byDirectory) return { kind: 'refused' };
      const { kind } = user.actor;
      const checked = await checkBoth(db, box, { ...user, kind }, { password, code }, browser);
      if (checked.kind !== 'passed') return checked;
      await noteProof(db, user);
      return { kind: 'passed' };
    },
  };
}

/** Checks the password and, of a person with a second factor, the code. */
export async function checkBoth(
  db: Db,
  box: SecretBox,
  user: { userId: string; email: string; kind: UserKind },
  { password, code }: { password: string; code: string },
  browser: Browser,
): Promise<{ kind: 'passed' } | SignInRefusal> {
  const { kind, email } = user;
  const checked = await checkPasswordOf(db, box, { kind, email, password, ...browser });
  if (checked.kind !== 'passed') return checked;
  const { totp, passkeys } = await summarizeFactors(db, user.userId);
  // A password alone is less than what the person signs in with.
  return totp || passkeys > 0 ? checkCodeOf(db, box, kind, user, code, browser) : checked;
}

/** The user of an email address and a password, within the limits. */
export async function checkPasswordOf(
  db: Db,
  box: SecretBox,
  { kind, email, password, address, device }: SignInRequest,
): Promise<Checked<StoredUser> | { kind: 'busy' }> {
  // Nobody has such an address; a limit for it would only store what a stranger sends.
  if (email.length > EMAIL_LENGTH_MAX || email.includes('\0')) return { kind: 'refused' };
  const user = await findUserByEmail(db, kind, email);
  const known = user === null ? null : readDevice(box, user.id, device);
  try {
    return await limitAttempts(
      db,
      { kind, email, step: 'password', address, device: known },
      async () => {
        const tried = password.slice(0, PASSWORD_LENGTH_MAX * DECOMPOSED_MAX);
        const isRight = await checkPassword(user?.passwordHash ?? null, tried);
        return isRight && user?.disabledAt === null ? user : null;
      },
    );
  } catch (error) {
    if (error instanceof TooManySignIns) return { kind: 'busy' };
    throw error;
  }
}

/** Whether a code of the app or a recovery code is right, within the limits. */
export function checkCodeOf(
  db: Db,
  box: SecretBox,
  kind: UserKind,
  { userId, email }: Pick<Step, 'userId' | 'email'>,
  code: string,
  browser: Browser,
): Promise<Checked<true>> {
  const device = readDevice(box, userId, browser.device);
  return limitAttempts(
    db,
    { kind, email, step: 'code', address: browser.address, device },
    async () => ((await useCode(db, box, userId, code)) ? true : null),
    { slow: isAppCode(code) },
  );
}

/** It ends with the password that it was made with. */
export function sealStep(box: SecretBox, { id, kind, passwordHash }: StoredUser): string {
  return sealValue(box, [id, stampOf(passwordHash)], `step ${kind}`, STEP_MINUTES);
}

/** Null if it has expired. Start again. */
async function readStep(
  db: Db,
  box: SecretBox,
  kind: UserKind,
  sealed: string,
): Promise<Step | null> {
  const opened = openValue(box, sealed, `step ${kind}`) as [string, string] | null;
  if (opened === null) return null;
  const [id, stamp] = opened;
  const user = await findUserById(db, id);
  if (user === null || user.disabledAt !== null || stampOf(user.passwordHash) !== stamp)
    return null;
  const { totp, passkeys } = await summarizeFactors(db, id);
  return { userId: id, email: user.email, totp, passkeys };
}

function stampOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url').slice(0, 16);
}
