/** Accepting an invitation: the same page for a new person and for one who has a user already. */
import { InvalidInput } from '../../../kit/service/refusal';
import type { AcceptOutcome, Invitation } from '../people';
import { words } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, type FormState } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import {
  type Answer,
  browserOf,
  get,
  page,
  post,
  redirect,
  type Route,
} from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { Box } from './box';
import { signedInAnswer } from './opened-session';
import { PASSKEY_WRONG, passkeyAnswer } from './passkey-form';
import { CODE_WRONG, secondStepRoutes, stepCookie } from './second-step';
import { refusalOf } from './sign-in-parts';
import { NewPasswordField } from './new-password-field';

const PASSWORD_WRONG =
  'You have a user with this email address already. Enter its password to accept.';

const AT = '/invitation';

export function invitationPages(options: AccountPages): Route[] {
  const { site, product, users, publicUrl: origin } = options;
  const path = site.prefix + AT;
  const noStep = stepCookie(site, AT, null);
  const tokenOf = (visit: Visit) => visit.form.get('token') ?? visit.query.get('token') ?? '';
  const linkOf = (visit: Visit) => `${path}?token=${encodeURIComponent(tokenOf(visit))}`;

  /** @throws PageRefusal when it is not open */
  async function show(visit: Visit, form: FormState, problem: string | null, status = 200) {
    const token = tokenOf(visit);
    const invitation = await users.people.invitation(site.kind, token);
    if (invitation === null) throw new PageRefusal('invitation_gone');
    return page(
      'Accept invitation',
      <Box product={product} title="Accept invitation" problem={problem}>
        <Accept action={path} token={token} invitation={invitation} form={form} />
      </Box>,
      { status },
    );
  }

  const signIn = `${site.prefix}/sign-in?accepted`;

  /** With the password that the person has just entered. What else the sign-in asks for, its own page does. */
  async function signInAs(visit: Visit, email: string, password: string): Promise<Answer> {
    const request = { kind: site.kind, email, password, ...browserOf(site, visit) };
    const outcome = await users.signIn.withPassword(request);
    if (outcome.kind !== 'signed_in') return redirect(signIn);
    return signedInAnswer(options, visit, outcome, { next: '', cookies: [] });
  }

  return [
    get('/invitation', null, (visit) => show(visit, EMPTY_FORM, null)),
    post('/invitation', { cost: 'password', needs: null }, async (visit) => {
      const { form } = visit;
      const person = { name: form.get('name') ?? '', password: form.get('password') ?? '' };
      const state = { values: form, errors: {} };
      try {
        const token = form.get('token') ?? '';
        const browser = browserOf(site, visit);
        const outcome = await users.people.accept(site.kind, token, person, browser);
        switch (outcome.kind) {
          case 'accepted':
            return await signInAs(visit, outcome.email, person.password);
          case 'second_step':
            return redirect(`${path}/second-step?token=${encodeURIComponent(token)}`, [
              stepCookie(site, AT, outcome.step),
            ]);
          default: {
            const { text, status } = problemOfOutcome(outcome, PASSWORD_WRONG);
            return await show(visit, state, text, status);
          }
        }
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        const errors = { [error.field]: error.message };
        return show(visit, { ...state, errors }, null, 422);
      }
    }),
    ...secondStepRoutes(options, {
      at: AT,
      hidden: (visit) => ({ token: tokenOf(visit) }),
      back: linkOf,
      ended: linkOf,
      withCode: async (visit, step, code) => {
        const browser = browserOf(site, visit);
        const token = tokenOf(visit);
        const outcome = await users.people.acceptWithCode(site.kind, token, step, code, browser);
        if (outcome.kind === 'accepted') return redirect(signIn, [noStep]);
        return { kind: 'problem', ...problemOfOutcome(outcome, CODE_WRONG) };
      },
      withPasskey: async (visit, step) => {
        const answer = { ...passkeyAnswer(site, visit), origin };
        const token = tokenOf(visit);
        const outcome = await users.people.acceptWithPasskey(site.kind, token, step, answer);
        if (outcome.kind === 'accepted') return redirect(signIn, [noStep]);
        return { kind: 'problem', ...problemOfOutcome(outcome, PASSKEY_WRONG) };
      },
    }),
  ];
}

/** @throws PageRefusal when the invitation cannot be accepted */
function problemOfOutcome(
  outcome: Exclude<AcceptOutcome, { kind: 'accepted' | 'second_step' }>,
  wrong: string,
): { text: string; status: number } {
  if (outcome.kind === 'gone') throw new PageRefusal('invitation_gone');
  if (outcome.kind === 'unproven') throw new PageRefusal('address_not_proven');
  return refusalOf(outcome, wrong);
}

interface AcceptProps {
  action: string;
  token: string;
  invitation: Invitation;
  form: FormState;
}

function Accept({ action, token, invitation, form }: AcceptProps) {
  const { email, role, accountName, invitedBy } = invitation;
  return (
    <form method="post" action={action} class="stack">
      <p>
        {invitedBy} invites <b>{email}</b> to {accountName ?? 'the operator console'} as{' '}
        <b>{words(role)}</b>.
      </p>
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="username" autocomplete="username" value={email} />
      <Field
        name="name"
        label="Your name"
        form={form}
        required
        autocomplete="name"
        maxLength={100}
      />
      <NewPasswordField
        form={form}
        label="Password"
        hint="12 characters or more. If you already sign in here with this email address, enter your password."
      />
      <button class="btn">Accept</button>
    </form>
  );
}
