/** TOTP and recovery codes: enrolment, removal, and the check at sign-in. */
import { createHash, randomBytes } from 'node:crypto';
import {
  confirmTotp,
  deleteTotp,
  findTotp,
  isSecondFactorRequired,
  replaceRecoveryCodes,
  saveNewTotp,
  saveSecondFactorPolicy,
  type StoredTotp,
  summarizeFactors,
  totpOwner,
  useRecoveryCode,
  useTotpStep,
} from '../../db/people/second-factors';
import type { Db, Tx } from '../../db/transaction';
import type { SecretBox } from '../../platform/lib/secret-box';
import { type ChangedBy, makeChange } from '../../kit/service/audit';
import { accountOf, changedBy, noteOwnChange, type SignedIn } from '../../kit/service/sessions';

export type { FactorSummary } from '../../db/people/second-factors';

/** Loaded when somebody uses it, because a process starts sooner without it. */
const loadOtp = () => import('otplib');

const ISSUER = 'Payments gateway';
/** Clocks of phones differ: the code before and the one after are valid too. */
const TOLERANCE_SECONDS = 30;
const RECOVERY_CODES = 10;
const RECOVERY_LETTERS = 16;
/** 32 characters that are not mistaken for each other. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export interface Enrolment {
  /** To type into an app that has no camera. */
  secret: string;
  /** In the QR code. */
  uri: string;
}

export function createSecondFactors(db: Db, box: SecretBox) {
  return {
    summary: ({ userId }: SignedIn) => summarizeFactors(db, userId),
    /** Null if not started, or already confirmed. */
    enrolment: async ({ userId, email }: SignedIn): Promise<Enrolment | null> => {
      const stored = await findTotp(db, userId);
      if (stored === null || stored.confirmedAt !== null) return null;
      const secret = box.open(stored, totpOwner(userId));
      const { generateURI } = await loadOtp();
      return { secret, uri: generateURI({ issuer: ISSUER, label: email, secret }) };
    },
    startTotp: async ({ userId }: SignedIn) => {
      const { generateSecret } = await loadOtp();
      return saveNewTotp(db, userId, box.seal(generateSecret(), totpOwner(userId)));
    },
    /** @returns null for a wrong code; new recovery codes with the first second factor */
    confirmTotp: async (user: SignedIn, code: string) => {
      const stored = await findTotp(db, user.userId);
      if (stored === null || stored.confirmedAt !== null) return null;
      const step = await stepOf(box, user.userId, stored, code);
      if (step === null) return null;
      return db.transaction(async (tx) => {
        if (!(await confirmTotp(tx, user.userId, stored, step))) return null;
        await noteOwnChange(tx, user, 'user.add_totp');
        return { recoveryCodes: await firstRecoveryCodes(tx, user.userId) };
      });
    },
    removeTotp: (user: SignedIn) =>
      db.transaction(async (tx) => {
        if (!(await deleteTotp(tx, user.userId))) return;
        await noteOwnChange(tx, user, 'user.remove_totp');
        await forgetCodesWithoutFactor(tx, user.userId);
      }),
    newRecoveryCodes: (user: SignedIn) =>
      db.transaction(async (tx) => {
        await noteOwnChange(tx, user, 'user.new_recovery_codes');
        return replaceCodes(tx, user.userId);
      }),
    isRequired: (user: SignedIn) => isSecondFactorRequired(db, accountOf(user)),
    /** For everybody in the account, or for all operators. */
    require: (user: SignedIn, required: boolean) =>
      requireSecondFactor(db, changedBy(user), accountOf(user), required),
  };
}

/** @param accountId null means operators */
export function requireSecondFactor(
  db: Db,
  by: ChangedBy,
  accountId: string | null,
  required: boolean,
): Promise<void> {
  return makeChange(db, by, async (tx) => {
    const changed = await saveSecondFactorPolicy(tx, accountId, required);
    const state = (on: boolean) => ({ object: 'second_factor_policy', required: on });
    return {
      result: undefined,
      audit: {
        object: 'second_factor_policy',
        objectId: accountId ?? 'operators',
        action: 'second_factor_policy.set',
        accountId,
        before: state(changed ? !required : required),
        after: state(required),
      },
    };
  });
}

/** Accepts a code of the app or a recovery code, each once. */
export async function useCode(
  db: Db,
  box: SecretBox,
  userId: string,
  code: string,
): Promise<boolean> {
  if (!isAppCode(code)) {
    return db.transaction((tx) => useRecoveryCode(tx, userId, hashCode(userId, code)));
  }
  const stored = await findTotp(db, userId);
  if (stored === null || stored.confirmedAt === null) return false;
  const step = await stepOf(box, userId, stored, code);
  return step !== null && (await db.transaction((tx) => useTotpStep(tx, userId, step)));
}

/** Six digits, which can be guessed; otherwise a recovery code, which cannot. */
export function isAppCode(code: string): boolean {
  return /^\d{6}$/.test(code.replaceAll(/\s/g, ''));
}

/** The step of a valid code that is later than the last accepted one. */
async function stepOf(
  box: SecretBox,
  userId: string,
  stored: StoredTotp,
  code: string,
): Promise<number | null> {
  const token = code.replaceAll(/\s/g, '');
  if (!isAppCode(token)) return null;
  const secret = box.open(stored, totpOwner(userId));
  const { verify } = await loadOtp();
  const result = await verify({ secret, token, epochTolerance: TOLERANCE_SECONDS });
  if (!result.valid || !('timeStep' in result)) return null;
  return result.timeStep > stored.lastStep ? result.timeStep : null;
}

/** Null when there are codes already. */
export async function firstRecoveryCodes(tx: Tx, userId: string): Promise<string[] | null> {
  const { recoveryCodes } = await summarizeFactors(tx, userId);
  return recoveryCodes > 0 ? null : replaceCodes(tx, userId);
}

export async function forgetCodesWithoutFactor(tx: Tx, userId: string): Promise<void> {
  const { totp, passkeys } = await summarizeFactors(tx, userId);
  if (!totp && passkeys === 0) await replaceRecoveryCodes(tx, userId, []);
}

async function replaceCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode);
  await replaceRecoveryCodes(
    tx,
    userId,
    codes.map((code) => hashCode(userId, code)),
  );
  return codes;
}

/** 80 random bits in four groups: each byte gives one of 32 letters. */
function makeRecoveryCode(): string {
  const letters = [...randomBytes(RECOVERY_LETTERS)].map((byte) => ALPHABET.charAt(byte % 32));
  return letters.join('').replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** The code has enough random bits that a fast hash is safe. */
function hashCode(userId: string, code: string): Buffer {
  const plain = code
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1');
  return createHash('sha256').update(`${userId} ${plain}`).digest();
}
