/**
 * The people of an account or of the console: roles, removal, invitations. Without a mail server, the person
 * who invites hands the link over.
 */
import { insertInvitationMail } from '../../db/people/link-mails';
import {
  addMembership,
  approveInvitation,
  countInvitations,
  dropRoleProposal,
  findInvitation,
  findRoleProposal,
  insertInvitation,
  type Invitation,
  listInvitations,
  listPeople,
  lockManagersAnd,
  proposeRole,
  removePerson,
  revokeInvitation,
  savePersonRole,
  sendInvitationAgain,
  takeRoleProposal,
  type Team,
  type TeamMember,
  useInvitation,
} from '../../db/people/people';
import { findIdentity } from '../../db/people/operator-identities';
import { areRelatedOperators } from '../../db/approvals/related-operators';
import { summarizeFactors } from '../../db/people/second-factors';
import { findUserByEmail, insertUser, type User } from '../../db/people/users';
import type { Db, Tx } from '../../db/transaction';
import {
  INVITATION_DAYS,
  isHigherRole,
  MERCHANT_ROLES,
  OPERATOR_ROLES,
  type OperatorRole,
  type UserKind,
} from '../../domain/users';
import { newId } from '../../platform/lib/new-id';
import type { SecretBox } from '../../platform/lib/secret-box';
import { appendAudit } from '../../db/audit/audit-log';
import { makeChange } from '../../kit/service/audit';
import { AdminRefusal } from '../../kit/service/refusal';
import { type Answer, prove, purposeOf } from './passkeys';
import { hashPassword } from './passwords';
import {
  accountOf,
  type Browser,
  changedBy,
  hashToken,
  newToken,
  type SignedIn,
  type SignInRules,
  sourceOf,
} from '../../kit/service/sessions';
import { checkCodeOf, checkPasswordOf, sealStep, type SignInRefusal, type Step } from './sign-in';
import { checkEmail, checkName, checkPasswordRule, checkRole } from './users';

export type { Invitation, Person } from '../../db/people/people';

const INVITATIONS_MAX = 50;

/** The outcomes of the step that ends an acceptance. */
type SecondStepOutcome = Exclude<AcceptOutcome, { kind: 'second_step' }>;

export type AcceptOutcome =
  | { kind: 'accepted'; email: string }
  /** The person has a second factor. The text is for a cookie. */
  | { kind: 'second_step'; step: string }
  /** Another account invited the user of this address, and no operator has vouched for it. */
  | { kind: 'unproven' }
  /** It is not open any more. */
  | { kind: 'gone' }
  | SignInRefusal;

/** @param sendsMail whether invitations go by mail */
export function createPeople(db: Db, box: SecretBox, { issuer }: SignInRules, sendsMail: boolean) {
  /** @throws AdminRefusal when the groups at the provider decide about the role */
  async function requireOwnRole(tx: Tx, { userId, email }: TeamMember): Promise<void> {
    if (issuer === null || (await findIdentity(tx, userId)) === null) return;
    throw new AdminRefusal({ code: 'role_by_directory', email });
  }

  return {
    list: (user: SignedIn) => listPeople(db, teamOf(user)),
    /** A higher role of an operator is proposed to the other admins. @throws AdminRefusal, InvalidInput */
    changeRole: (user: SignedIn, userId: string, wished: string) => {
      const team = teamOf(user);
      const role = roleOf(team.kind, wished);
      const isProposal = (person: TeamMember) =>
        team.kind === 'operator' && isHigherRole(operatorRole(role), operatorRole(person.role));
      const action = (person: TeamMember) =>
        isProposal(person) ? 'user.propose_role' : 'user.change_role';
      return changePerson(db, user, userId, action, { role }, async (tx, person) => {
        await requireOwnRole(tx, person);
        if (isProposal(person)) {
          return proposeRole(tx, { userId, role, proposedBy: user.email });
        }
        if (team.kind === 'operator') await dropRoleProposal(tx, userId);
        return savePersonRole(tx, team, userId, role);
      });
    },
    /** Approves a proposed role; the admin who proposed it cannot. @throws AdminRefusal */
    approveRole: (user: SignedIn, userId: string) => approveRole(db, user, userId),
    /** One's own is withdrawn. @throws AdminRefusal */
    rejectRole: (user: SignedIn, userId: string) =>
      changePerson(db, user, userId, 'user.reject_role', undefined, async (tx) => {
        if (!(await dropRoleProposal(tx, userId))) {
          throw new AdminRefusal({ code: 'proposal_ended' });
        }
      }),
    /** Ends the sessions at once. @throws AdminRefusal */
    remove: (user: SignedIn, userId: string) =>
      changePerson(db, user, userId, 'user.remove', null, (tx) =>
        removePerson(tx, teamOf(user), userId),
      ),
    ...createInvitations(db, sendsMail),
    /** Null if unknown, accepted, revoked or expired. */
    invitation: (kind: UserKind, token: string) => findInvitation(db, kind, hashToken(token)),
    /** @throws InvalidInput */
    accept: (
      kind: UserKind,
      token: string,
      person: { name: string; password: string },
      browser: Browser,
    ) => accept(db, box, kind, token, person, browser),
    /** The second step of a person who has a second factor. @param step from `SignIn.step` */
    acceptWithCode: (kind: UserKind, token: string, step: Step, code: string, browser: Browser) =>
      acceptWith(db, kind, token, step, () => checkCodeOf(db, box, kind, step, code, browser)),
    acceptWithPasskey: (
      kind: UserKind,
      token: string,
      step: Step,
      { origin, ...answer }: Answer & { origin: string },
    ) =>
      acceptWith(db, kind, token, step, async () => {
        const how = { purpose: purposeOf(step), isAlone: false };
        const proved = await prove(db, box, origin, answer, how);
        return { kind: proved?.userId === step.userId ? 'passed' : 'refused' };
      }),
  };
}

function createInvitations(db: Db, sendsMail: boolean) {
  const change = (
    user: SignedIn,
    verb: string,
    id: string,
    work: (tx: Tx) => Promise<{ before: object } | { after: object }>,
  ): Promise<void> =>
    makeChange(db, changedBy(user), async (tx) => {
      const changed = await work(tx);
      return { result: undefined, audit: { ...auditOf(user, verb, id), ...changed } };
    });
  const known = <T>(invitation: T | null, id: string): T => {
    if (invitation !== null) return invitation;
    throw new AdminRefusal({ code: 'not_found', object: 'invitation', id });
  };
  return {
    invitations: (user: SignedIn) => listInvitations(db, teamOf(user)),
    /** @returns the token of the link, which is not stored @throws AdminRefusal, InvalidInput */
    invite: (user: SignedIn, wish: { email: string; role: string }) =>
      invite(db, user, wish, sendsMail),
    /** Approves the invitation of an operator; the admin who invited cannot. @throws AdminRefusal */
    approve: (user: SignedIn, id: string) =>
      change(user, 'approve', id, async (tx) => {
        const approved = await approveInvitation(tx, id, user.email);
        if (approved === null) throw await whyNotApproved(tx, user, id);
        if (sendsMail) await insertInvitationMail(tx, newId('linkMail'), id);
        return { after: { object: 'invitation', ...approved } };
      }),
    /** Sends the mail again with another link; earlier links end. @throws AdminRefusal */
    sendAgain: (user: SignedIn, id: string) =>
      change(user, 'send', id, async (tx) => {
        const sent = sendsMail
          ? await sendInvitationAgain(tx, teamOf(user), id, newId('linkMail'))
          : null;
        return { after: { object: 'invitation', ...known(sent, id) } };
      }),
    /** @throws AdminRefusal */
    revoke: (user: SignedIn, id: string) =>
      change(user, 'revoke', id, async (tx) => ({
        before: known(await revokeInvitation(tx, teamOf(user), id), id),
      })),
  };
}

async function changePerson(
  db: Db,
  user: SignedIn,
  userId: string,
  action: string | ((person: TeamMember) => string),
  /** Null if the person is gone. Undefined if the role stays. */
  after: (Pick<TeamMember, 'role'> & { proposed_by?: string }) | null | undefined,
  change: (tx: Tx, person: TeamMember) => Promise<void>,
): Promise<void> {
  const team = teamOf(user);
  const top = team.kind === 'operator' ? 'admin' : 'owner';
  await makeChange(db, changedBy(user), async (tx) => {
    const { managers, person } = await lockManagersAnd(tx, team, userId);
    if (person === null) throw new AdminRefusal({ code: 'not_found', object: 'user', id: userId });
    if (after !== undefined && person.role === top && after?.role !== top && managers === 1) {
      throw new AdminRefusal({ code: 'last_manager', role: top });
    }
    await change(tx, person);
    const { email, role } = person;
    return {
      result: undefined,
      audit: {
        object: 'user',
        objectId: userId,
        action: typeof action === 'string' ? action : action(person),
        accountId: accountOf(user),
        before: { object: 'user', email, role },
        after: after === null ? null : { object: 'user', email, role, ...after },
      },
    };
  });
}

/** The guard of the row decides; who it refuses is told why. @throws AdminRefusal */
async function approveRole(db: Db, user: SignedIn, userId: string): Promise<void> {
  const proposal = await db.transaction((tx) => findRoleProposal(tx, userId));
  if (proposal === null) throw new AdminRefusal({ code: 'proposal_ended' });
  const { role, proposedBy } = proposal;
  const after = { role, proposed_by: proposedBy };
  await changePerson(db, user, userId, 'user.change_role', after, async (tx) => {
    const now = await findRoleProposal(tx, userId);
    if (now?.role !== role || now.proposedBy !== proposedBy) {
      throw new AdminRefusal({ code: 'proposal_ended' });
    }
    if (!(await takeRoleProposal(tx, userId, user.email))) {
      throw await whyNotSecond(tx, user, proposedBy);
    }
    await savePersonRole(tx, { kind: 'operator' }, userId, role);
  });
}

/** Why an admin cannot be the second one. */
async function whyNotSecond(tx: Tx, user: SignedIn, first: string): Promise<AdminRefusal> {
  if (first.toLowerCase() === user.email.toLowerCase()) {
    return new AdminRefusal({ code: 'own_proposal', actor: user.email });
  }
  return (await areRelatedOperators(tx, first, user.email))
    ? new AdminRefusal({ code: 'related_operator', other: first })
    : new AdminRefusal({ code: 'proposal_outdated' });
}

async function whyNotApproved(tx: Tx, user: SignedIn, id: string): Promise<AdminRefusal> {
  const open = (await listInvitations(tx, teamOf(user))).find((one) => one.id === id);
  if (open === undefined) return new AdminRefusal({ code: 'not_found', object: 'invitation', id });
  if (open.approvedBy !== null) return new AdminRefusal({ code: 'proposal_ended' });
  return whyNotSecond(tx, user, open.invitedBy);
}

async function invite(
  db: Db,
  user: SignedIn,
  wish: { email: string; role: string },
  sendsMail: boolean,
): Promise<{ token: string }> {
  const team = teamOf(user);
  const email = checkEmail(wish.email);
  const role = roleOf(team.kind, wish.role);
  const people = await listPeople(db, team);
  // Whether somebody else has a user with this address is not said.
  if (people.some((one) => one.email.toLowerCase() === email.toLowerCase())) {
    throw new AdminRefusal({ code: 'email_taken', kind: team.kind, email });
  }
  // Whoever got the link would be the colleague who left: for the audit log and for two approvals.
  if (team.kind === 'operator' && (await findUserByEmail(db, 'operator', email)) !== null) {
    throw new AdminRefusal({ code: 'operator_was_removed', email });
  }
  const token = newToken();
  return makeChange(db, changedBy(user), async (tx) => {
    if ((await countInvitations(tx, team)) >= INVITATIONS_MAX) {
      throw new AdminRefusal({ code: 'too_many_invitations', max: INVITATIONS_MAX });
    }
    const id = newId('invitation');
    const invitation = { id, email, role, invitedBy: user.email };
    await insertInvitation(
      tx,
      { ...invitation, tokenHash: hashToken(token), hours: INVITATION_DAYS * 24 },
      team,
    );
    // An operator's is sent when another admin has approved it.
    if (sendsMail && team.kind === 'merchant') {
      await insertInvitationMail(tx, newId('linkMail'), id);
    }
    return {
      result: { token },
      audit: { ...auditOf(user, 'create', id), after: { object: 'invitation', email, role } },
    };
  });
}

/**
 * A new user gets the password; who has a user with this email address enters its password, and then
 * its second factor. The page is the same for both, and its link alone signs nobody in.
 *
 * Whoever hands a link over has it too, so a new merchant's address is not proven: the user is bound to the
 * account until an operator vouches. A link that was mailed proves the address.
 */
async function accept(
  db: Db,
  box: SecretBox,
  kind: UserKind,
  token: string,
  person: { name: string; password: string },
  browser: Browser,
): Promise<AcceptOutcome> {
  const invitation = await findInvitation(db, kind, hashToken(token));
  if (invitation === null) return { kind: 'gone' };
  const { email } = invitation;
  const name = checkName(person.name);
  const known = await findUserByEmail(db, kind, email);
  if (known !== null && known.disabledAt === null) {
    if (isBoundElsewhere(known, invitation)) return { kind: 'unproven' };
    const { password } = person;
    const checked = await checkPasswordOf(db, box, { kind, email, password, ...browser });
    if (checked.kind !== 'passed') return checked;
    const { totp, passkeys } = await summarizeFactors(db, known.id);
    if (totp || passkeys > 0) return { kind: 'second_step', step: sealStep(box, known) };
    return finishAcceptance(db, invitation, (tx) => join(tx, invitation, known.id));
  }
  // Whoever was disabled or removed stays out: a link must not make somebody else this user.
  if (known !== null) return { kind: 'refused' };
  const passwordHash = await hashPassword(checkPasswordRule(person.password));
  return finishAcceptance(db, invitation, async (tx) => {
    const operatorRole = kind === 'operator' ? checkRole(invitation.role, OPERATOR_ROLES) : null;
    const id = newId('user');
    const user = await insertUser(tx, {
      id,
      kind,
      email,
      name,
      operatorRole,
      boundAccountId: invitation.mailedAt === null ? invitation.accountId : null,
      passwordHash,
    });
    return user === null ? null : join(tx, invitation, id);
  });
}

/** @param work null if somebody with this email address came in between */
async function finishAcceptance(
  db: Db,
  invitation: Invitation,
  work: (tx: Tx) => Promise<string | null>,
): Promise<Extract<AcceptOutcome, { kind: 'accepted' | 'gone' }>> {
  return db.transaction(async (tx) => {
    if (!(await useInvitation(tx, invitation.id))) return { kind: 'gone' };
    const userId = await work(tx);
    if (userId === null) return { kind: 'gone' };
    const { id, kind, accountId, email, role } = invitation;
    await appendAudit(tx, {
      actor: email,
      via: sourceOf(kind),
      reason: null,
      action: 'invitation.accept',
      object: 'invitation',
      objectId: id,
      accountId,
      before: null,
      after: { object: 'user', id: userId, email, role },
    });
    if (kind === 'operator') await noteJoin(tx, invitation, userId);
    return { kind: 'accepted', email };
  });
}

/** Who brought the operator in, for the rule of two people: src/db/approvals/related-operators.ts. */
async function noteJoin(
  tx: Tx,
  { email, role, invitedBy, approvedBy }: Invitation,
  userId: string,
): Promise<void> {
  const after = { object: 'user', email, role, proposed_by: invitedBy, approved_by: approvedBy };
  await appendAudit(tx, {
    ...{ actor: email, via: sourceOf('operator'), reason: null, action: 'user.join' },
    ...{ object: 'user', objectId: userId, accountId: null, before: null, after },
  });
}

async function join(tx: Tx, { accountId, role }: Invitation, userId: string): Promise<string> {
  if (accountId !== null) {
    await addMembership(tx, { userId, accountId, role: checkRole(role, MERCHANT_ROLES) });
  }
  return userId;
}

/** Accepts once the person has proved the second factor. */
async function acceptWith(
  db: Db,
  kind: UserKind,
  token: string,
  step: Step,
  prove: () => Promise<{ kind: 'passed' } | SecondStepOutcome>,
): Promise<SecondStepOutcome> {
  const open = await openFor(db, kind, token, step);
  if (open.kind !== 'open') return open;
  const proved = await prove();
  if (proved.kind !== 'passed') return proved;
  return finishAcceptance(db, open.invitation, (tx) => join(tx, open.invitation, step.userId));
}

/** Whether the person in the second step may accept it. */
async function openFor(
  db: Db,
  kind: UserKind,
  token: string,
  { userId }: Step,
): Promise<{ kind: 'open'; invitation: Invitation } | { kind: 'gone' } | { kind: 'unproven' }> {
  const invitation = await findInvitation(db, kind, hashToken(token));
  if (invitation === null) return { kind: 'gone' };
  const user = await findUserByEmail(db, kind, invitation.email);
  if (user?.id !== userId) return { kind: 'gone' };
  return isBoundElsewhere(user, invitation) ? { kind: 'unproven' } : { kind: 'open', invitation };
}

/** Nobody has vouched for the address, and another account's invitation created the user. */
function isBoundElsewhere({ boundAccountId }: User, { accountId }: Invitation): boolean {
  return boundAccountId !== null && boundAccountId !== accountId;
}

function auditOf(user: SignedIn, verb: string, id: string) {
  const accountId = accountOf(user);
  const object = { object: 'invitation', objectId: id };
  return { ...object, action: `invitation.${verb}`, accountId, before: null, after: null };
}

function operatorRole(role: string): OperatorRole {
  return checkRole(role, OPERATOR_ROLES);
}

function roleOf(kind: UserKind, role: string): string {
  return kind === 'operator' ? checkRole(role, OPERATOR_ROLES) : checkRole(role, MERCHANT_ROLES);
}

function teamOf({ actor }: SignedIn): Team {
  return actor.kind === 'operator'
    ? { kind: 'operator' }
    : { kind: 'merchant', accountId: actor.accountId };
}
