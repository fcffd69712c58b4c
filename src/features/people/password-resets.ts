/**
 * A new password by mail, for a person who has forgotten the old one (decisions/notifications#link-mails).
 * Asking does the same for every email address: the worker finds out whether it has a user, when it sends.
 */
import { isKnownNetwork } from '../../db/people/authentication-attempts';
import {
  countResets,
  findReset,
  insertReset,
  type Reset,
  useReset,
} from '../../db/people/link-mails';
import { summarizeFactors } from '../../db/people/second-factors';
import {
  findUserByEmail,
  lockUser,
  revokeSessions,
  savePassword,
  saveVouched,
} from '../../db/people/users';
import { type Db, lockByName, type Tx } from '../../db/transaction';
import type { UserKind } from '../../domain/users';
import { newId } from '../../platform/lib/new-id';
import { openValue, sealValue, type SecretBox } from '../../platform/lib/secret-box';
import { presentUser } from '../../kit/service/admin';
import { makeChange } from '../../kit/service/audit';
import { knownAddress } from '../../kit/service/attempts';
import { type Answer, prove, purposeOf } from './passkeys';
import { hashPassword } from './passwords';
import { type Browser, hashToken, sourceOf } from '../../kit/service/sessions';
import { checkCodeOf, type SignInRefusal, type Step, STEP_MINUTES } from './sign-in';
import { checkEmail, checkPasswordRule } from './users';

/**
 * In an hour. A network uses up what it may ask for itself, and not what the person may. Many networks use up what
 * strangers may ask for, and not what the networks may that the person signs in from.
 */
const OF_PAIR_MAX = 3;
const OF_EMAIL_MAX = 10;
const OF_NETWORK_MAX = 10;

export type OpenReset = Reset & {
  step: Step;
  /** The second factor was proved, or there is none. */
  isProved: boolean;
};

/** The text is for a cookie. */
type ProofOutcome = { kind: 'proved'; proof: string } | { kind: 'gone' } | SignInRefusal;

export function createPasswordResets(db: Db, box: SecretBox) {
  const open = (kind: UserKind, token: string, proof: string) =>
    findOpen(db, box, kind, token, proof);
  const proofOf = (kind: UserKind, { id, step }: OpenReset) => ({
    kind: 'proved' as const,
    proof: sealValue(box, [id, step.userId], `reset ${kind}`, STEP_MINUTES),
  });
  return {
    /** @returns false if too many were asked for from this network @throws InvalidInput */
    request: (kind: UserKind, email: string, { address }: Browser) =>
      requestReset(db, { kind, email: checkEmail(email), address: knownAddress(address) }),
    /** Null if unknown, used, or expired. */
    find: open,
    proveWithCode: async (
      kind: UserKind,
      token: string,
      code: string,
      browser: Browser,
    ): Promise<ProofOutcome> => {
      const reset = await open(kind, token, '');
      if (reset === null) return { kind: 'gone' };
      const checked = await checkCodeOf(db, box, kind, reset.step, code, browser);
      return checked.kind === 'passed' ? proofOf(kind, reset) : checked;
    },
    proveWithPasskey: async (
      kind: UserKind,
      token: string,
      { origin, ...answer }: Answer & { origin: string },
    ): Promise<ProofOutcome> => {
      const reset = await open(kind, token, '');
      if (reset === null) return { kind: 'gone' };
      const how = { purpose: purposeOf(reset.step), isAlone: false };
      const proved = await prove(db, box, origin, answer, how);
      return proved?.userId === reset.step.userId ? proofOf(kind, reset) : { kind: 'refused' };
    },
    /** Nobody is signed in by it. @returns false if the link is gone @throws InvalidInput */
    finish: async (
      kind: UserKind,
      token: string,
      proof: string,
      password: string,
    ): Promise<'changed' | 'second_step' | 'gone'> => {
      const reset = await open(kind, token, proof);
      if (reset === null) return 'gone';
      if (!reset.isProved) return 'second_step';
      const passwordHash = await hashPassword(checkPasswordRule(password));
      return setPassword(db, kind, reset, passwordHash);
    },
  };
}

async function requestReset(
  db: Db,
  request: { kind: UserKind; email: string; address: string | null },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Two at the same time count each other.
    await lockByName(tx, 'password resets');
    const { ofPair, ofEmail, ofNetwork } = await countResets(tx, request);
    if (ofNetwork >= OF_NETWORK_MAX) return false;
    const isSent =
      ofPair < OF_PAIR_MAX && (ofEmail < OF_EMAIL_MAX || (await isKnownNetwork(tx, request)));
    if (isSent) await insertReset(tx, newId('linkMail'), request);
    return true;
  });
}

async function findOpen(
  db: Db,
  box: SecretBox,
  kind: UserKind,
  token: string,
  proof: string,
): Promise<OpenReset | null> {
  const reset = await findReset(db, kind, hashToken(token));
  const user = reset === null ? null : await findUserByEmail(db, kind, reset.email);
  if (reset === null || user === null || user.disabledAt !== null) return null;
  const { totp, passkeys } = await summarizeFactors(db, user.id);
  const proved = openValue(box, proof, `reset ${kind}`) as [string, string] | null;
  const isProved = (!totp && passkeys === 0) || (proved?.[0] === reset.id && proved[1] === user.id);
  const step = { userId: user.id, email: user.email, totp, passkeys };
  return { ...reset, step, isProved };
}

/**
 * All sessions end and the second factors stay: the person has just proved one. Without a factor, the mail proves
 * that the address is the person's, and nobody else has a way in, so the user may act in every account.
 */
async function setPassword(
  db: Db,
  kind: UserKind,
  reset: OpenReset,
  passwordHash: string,
): Promise<'changed' | 'second_step' | 'gone'> {
  const hasFactor = reset.step.totp || reset.step.passkeys > 0;
  const work = async (tx: Tx) => {
    const before = await lockUser(tx, kind, reset.email);
    if (before === null || before.disabledAt !== null) throw new NotNow('gone');
    const { totp, passkeys } = await summarizeFactors(tx, before.id);
    if (!hasFactor && (totp || passkeys > 0)) throw new NotNow('second_step');
    if (!(await useReset(tx, kind, reset))) throw new NotNow('gone');
    await revokeSessions(tx, before.id, null);
    if (!totp && passkeys === 0) await saveVouched(tx, before.id);
    const user = await savePassword(tx, before.id, passwordHash);
    return {
      result: 'changed' as const,
      audit: {
        ...{ object: 'user', objectId: user.id, accountId: null },
        action: 'user.reset_password',
        before: { ...presentUser(before), totp, passkeys },
        after: { ...presentUser(user), totp, passkeys },
      },
    };
  };
  const by = { actor: reset.step.email, reason: 'link by email', via: sourceOf(kind) };
  try {
    return await makeChange(db, by, work);
  } catch (error) {
    if (error instanceof NotNow) return error.outcome;
    throw error;
  }
}

/** Nothing was changed. */
class NotNow extends Error {
  constructor(readonly outcome: 'second_step' | 'gone') {
    super(outcome);
  }
}
