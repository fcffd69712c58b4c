/**
 * Passkeys (WebAuthn): registered by a signed-in person; they sign in instead of the password, after
 * it, or again. The challenge is in an encrypted cookie that is bound to what it is for; its hash is
 * kept once it was answered, so that an answer works once.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  notePasskeyUsed,
  type Passkey,
  useChallenge,
} from '../../db/people/second-factors';
import { findUserById } from '../../db/people/users';
import type { Db } from '../../db/transaction';
import type { UserKind } from '../../domain/users';
import { newId } from '../../platform/lib/new-id';
import { openValue, sealValue, type SecretBox } from '../../platform/lib/secret-box';
import { AdminRefusal } from '../../kit/service/refusal';
import { firstRecoveryCodes, forgetCodesWithoutFactor } from './second-factors';
import {
  type Browser,
  noteOwnChange,
  noteProof,
  openSession,
  type SignedIn,
  type SignInRules,
} from '../../kit/service/sessions';
import type { Step } from './sign-in';
import { checkName } from './users';

export type { Passkey } from '../../db/people/second-factors';

/** A tenth of the time in which a process starts, for what few requests need. */
const loadWebauthn = () => import('@simplewebauthn/server');

const RP_NAME = 'Payments gateway';
export const CHALLENGE_MINUTES = 5;
const PASSKEYS_MAX = 20;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** What the browser gets, and the text for the cookie. */
export interface Ceremony<Options> {
  options: Options;
  ticket: string;
}

/** What the browser sends back: JSON, and the cookie. */
export interface Answer {
  response: string;
  ticket: string;
}

/** An `origin` is that of the site, such as `https://dashboard.example.com`. */
export function createPasskeys(db: Db, box: SecretBox, rules: SignInRules) {
  return {
    /** Browsers refuse passkeys for IP addresses. */
    arePossible: (origin: string) => isIP(hostOf(origin).replace(/^\[|\]$/g, '')) === 0,
    list: ({ userId }: SignedIn) => listPasskeys(db, userId),
    creation: async (user: SignedIn, origin: string) => {
      const { generateRegistrationOptions } = await loadWebauthn();
      const options = await generateRegistrationOptions({
        rpName: RP_NAME,
        rpID: hostOf(origin),
        userName: user.email,
        userDisplayName: user.name === '' ? user.email : user.name,
        userID: new Uint8Array(Buffer.from(user.userId)),
        excludeCredentials: (await listPasskeys(db, user.userId)).map(descriptor),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      });
      const ticket = sealChallenge(box, options.challenge, `register ${user.sessionId}`);
      return { options, ticket };
    },
    register: (user: SignedIn, origin: string, answer: Answer & { name: string }) =>
      register(db, box, user, origin, answer),
    /** @throws AdminRefusal */
    remove: (user: SignedIn, id: string) =>
      db.transaction(async (tx) => {
        const removed = await deletePasskey(tx, user.userId, id);
        if (removed === null) throw new AdminRefusal({ code: 'not_found', object: 'passkey', id });
        await noteOwnChange(tx, user, 'user.remove_passkey', { before: audited(removed) });
        await forgetCodesWithoutFactor(tx, user.userId);
      }),
    /** @param who in the second step, signed in, or null means anybody */
    request: async (origin: string, who: Step | SignedIn | null) => {
      const passkeys = who === null ? [] : await listPasskeys(db, who.userId);
      const { generateAuthenticationOptions } = await loadWebauthn();
      const options = await generateAuthenticationOptions({
        rpID: hostOf(origin),
        allowCredentials: passkeys.map(descriptor),
        userVerification: who === null ? 'required' : 'preferred',
      });
      return { options, ticket: sealChallenge(box, options.challenge, purposeOf(who)) };
    },
    /** @param step null: instead of the password */
    signIn: async (
      kind: UserKind,
      origin: string,
      answer: Answer,
      step: Step | null,
      browser: Browser,
    ) => {
      const proved = await prove(db, box, origin, answer, {
        purpose: purposeOf(step),
        isAlone: step === null,
      });
      if (proved === null || (step !== null && proved.userId !== step.userId)) return null;
      const user = await findUserById(db, proved.userId);
      if (user?.kind !== kind || user.disabledAt !== null) return null;
      return openSession(db, box, rules, user, browser);
    },
    /** Proves again who a signed-in person is. */
    again: async (user: SignedIn, origin: string, answer: Answer) => {
      if (user.byDirectory) return false;
      const how = { purpose: purposeOf(user), isAlone: false };
      const proved = await prove(db, box, origin, answer, how);
      if (proved?.userId !== user.userId) return false;
      await noteProof(db, user);
      return true;
    },
  };
}

/**
 * @returns null if the answer is not valid; new recovery codes with the first second factor
 * @throws InvalidInput
 */
async function register(
  db: Db,
  box: SecretBox,
  user: SignedIn,
  origin: string,
  { response, ticket, name: givenName }: Answer & { name: string },
): Promise<{ recoveryCodes: string[] | null } | null> {
  const name = checkName(givenName);
  const challenge = openChallenge(box, ticket, `register ${user.sessionId}`);
  const sent = parseAnswer(response) as RegistrationResponseJSON | null;
  if (challenge === null || sent === null) return null;
  const { verifyRegistrationResponse } = await loadWebauthn();
  const verified = await valid(() =>
    verifyRegistrationResponse({
      response: sent,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
      requireUserVerification: false,
    }),
  );
  if (verified?.verified !== true) return null;
  const { credential } = verified.registrationInfo;
  return db.transaction(async (tx) => {
    if (!(await useChallenge(tx, hashChallenge(challenge), CHALLENGE_MINUTES))) return null;
    if ((await listPasskeys(tx, user.userId)).length >= PASSKEYS_MAX) return null;
    const sentTransports: readonly string[] = credential.transports ?? [];
    const passkey = {
      id: newId('passkey'),
      userId: user.userId,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: TRANSPORTS.filter((transport) => sentTransports.includes(transport)),
      name,
    };
    if (!(await insertPasskey(tx, passkey))) return null;
    await noteOwnChange(tx, user, 'user.add_passkey', { after: audited(passkey) });
    return { recoveryCodes: await firstRecoveryCodes(tx, user.userId) };
  });
}

/** The passkey that answered the challenge; null if the answer proves nothing. */
export async function prove(
  db: Db,
  box: SecretBox,
  origin: string,
  { response, ticket }: Answer,
  { purpose, isAlone }: { purpose: string; isAlone: boolean },
): Promise<Passkey | null> {
  const challenge = openChallenge(box, ticket, purpose);
  const sent = parseAnswer(response) as AuthenticationResponseJSON | null;
  if (challenge === null || typeof sent?.id !== 'string') return null;
  const passkey = sent.id.includes('\0') ? null : await findPasskey(db, sent.id);
  if (passkey === null) return null;
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const verified = await valid(() =>
    verifyAuthenticationResponse({
      response: sent,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
      // Without a password the authenticator must have checked the person.
      requireUserVerification: isAlone,
    }),
  );
  if (verified?.verified !== true) return null;
  const { newCounter } = verified.authenticationInfo;
  return db.transaction(async (tx) => {
    const isNew = await useChallenge(tx, hashChallenge(challenge), CHALLENGE_MINUTES);
    return isNew && (await notePasskeyUsed(tx, passkey.id, newCounter)) ? passkey : null;
  });
}

/** The library throws for whatever is wrong with an answer; then it proves nothing. */
async function valid<Result>(verify: () => Promise<Result>): Promise<Result | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

function parseAnswer(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

/** A challenge of one sign-in, or of one session, answers for no other. */
export function purposeOf(who: Step | SignedIn | null): string {
  if (who === null) return 'sign in';
  return 'sessionId' in who ? `again ${who.sessionId}` : `step ${who.userId}`;
}

function sealChallenge(box: SecretBox, challenge: string, purpose: string): string {
  return sealValue(box, challenge, `passkey ${purpose}`, CHALLENGE_MINUTES);
}

function openChallenge(box: SecretBox, ticket: string, purpose: string): string | null {
  return openValue(box, ticket, `passkey ${purpose}`) as string | null;
}

function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}

function descriptor({ credentialId, transports }: Passkey) {
  return { id: credentialId, transports };
}

/** The relying party's id. */
function hostOf(origin: string): string {
  return new URL(origin).hostname;
}

function audited({ id, name }: Pick<Passkey, 'id' | 'name'>) {
  return { object: 'passkey', id, name };
}
