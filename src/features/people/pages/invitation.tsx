/** Accepting an invitation: the same page for a new person and for one who has a user already. */
import { InvalidInput } from '../../../kit/service/refusal';
import type { AcceptOutcome, Invitation } from '../people';
import { type Step, STEP_MINUTES } from '../sign-in';
import { words } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, type FormState } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import {
  type Answer,
  browserOf,
  cookieName,
  page,
  redirect,
  type Route,
} from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { Box } from './box';
import { signedInAnswer } from './opened-session';
import { PASSKEY_WRONG, passkeyAnswer } from './passkey-form';
import { secondStepPage } from './second-step';
import { CODE_WRONG, refusalOf } from './sign-in-parts';
import { NewPasswordField } from './new-password-field';

const PASSWORD_WRONG =
  'You have a user with this email address already. Enter its password to accept.';

export function invitationPages(options: AccountPages): Route[] {
  const { site, product, users, publicUrl: origin } = options;
  const path = `${site.prefix}/invitation`;
  const stepPath = `${path}/second-step`;
  const stepCookie = `${cookieName(site)}_step`;
  const noStep: SetCookie = { name: stepCookie, value: null, maxAgeSeconds: 0, path };
  const tokenOf = (visit: Visit) => visit.form.get('token') ?? visit.query.get('token') ?? '';
  const linkOf = (visit: Visit) => `${path}?token=${encodeURIComponent(tokenOf(visit))}`;
  const readStep = (visit: Visit) =>
    users.signIn.step(site.kind, visit.cookies.get(stepCookie) ?? '');

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

  /** For a person who has a second factor. */
  const showStep = (visit: Visit, step: Step, problem: string | null, status = 200) =>
    secondStepPage(options, {
      ...{ step, action: stepPath, hidden: { token: tokenOf(visit) }, back: linkOf(visit) },
      ...{ problem, status },
    });

  const signIn = `${site.prefix}/sign-in?accepted`;

  /** With the password that the person has just entered. What else the sign-in asks for, its own page does. */
  async function signInAs(visit: Visit, email: string, password: string): Promise<Answer> {
    const request = { kind: site.kind, email, password, ...browserOf(site, visit) };
    const outcome = await users.signIn.withPassword(request);
    if (outcome.kind !== 'signed_in') return redirect(signIn);
    return signedInAnswer(options, visit, outcome, { next: '', cookies: [] });
  }

  return [
    {
      method: 'get',
      path: '/invitation',
      needs: null,
      run: (visit) => show(visit, EMPTY_FORM, null),
    },
    {
      method: 'post',
      path: '/invitation',
      cost: 'password',
      needs: null,
      run: async (visit) => {
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
              return redirect(`${stepPath}?token=${encodeURIComponent(token)}`, [
                { name: stepCookie, value: outcome.step, maxAgeSeconds: STEP_MINUTES * 60, path },
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
      },
    },
    {
      method: 'get',
      path: '/invitation/second-step',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        return step === null ? redirect(linkOf(visit)) : showStep(visit, step, null);
      },
    },
    {
      method: 'post',
      path: '/invitation/second-step',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        if (step === null) return redirect(linkOf(visit), [noStep]);
        const code = visit.form.get('code') ?? '';
        const browser = browserOf(site, visit);
        const token = tokenOf(visit);
        const outcome = await users.people.acceptWithCode(site.kind, token, step, code, browser);
        if (outcome.kind === 'accepted') return redirect(signIn, [noStep]);
        const { text, status } = problemOfOutcome(outcome, CODE_WRONG);
        return showStep(visit, step, text, status);
      },
    },
    {
      method: 'post',
      path: '/invitation/second-step/passkey',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        if (step === null) return redirect(linkOf(visit), [noStep]);
        const answer = { ...passkeyAnswer(site, visit), origin };
        const token = tokenOf(visit);
        const outcome = await users.people.acceptWithPasskey(site.kind, token, step, answer);
        if (outcome.kind === 'accepted') return redirect(signIn, [noStep]);
        const { text, status } = problemOfOutcome(outcome, PASSKEY_WRONG);
        return showStep(visit, step, text, status);
      },
    },
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
