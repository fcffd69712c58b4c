/** Accepting an invitation: the same page for a new person and for one who has a user already. */
import { InvalidInput } from '../../services/admin/refusal';
import type { Invitation } from '../../services/users/people';
import { words } from '../components';
import { EMPTY_FORM, Field, type FormState } from '../forms';
import { PageRefusal } from '../problems';
import { problemText } from '../refusals';
import { browserOf, page, redirect, type Route, type Visit } from '../site';
import type { AccountPages } from './account-pages';
import { Box, refusalOf } from './sign-in';

const PASSWORD_WRONG =
  'You have a user with this e-mail address already. Enter its password to accept.';

export function invitationPages({ site, product, users }: AccountPages): Route[] {
  const path = `${site.prefix}/invitation`;

  /** @throws PageRefusal when it is not open */
  async function show(visit: Visit, form: FormState, problem: string | null, status = 200) {
    const token = visit.form.get('token') ?? visit.query.get('token') ?? '';
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
      needs: null,
      run: async (visit) => {
        const { form } = visit;
        const person = { name: form.get('name') ?? '', password: form.get('password') ?? '' };
        const state = { values: form, errors: {} };
        try {
          const token = form.get('token') ?? '';
          const browser = browserOf(site, visit);
          const outcome = await users.people.accept(site.kind, token, person, browser);
          if (outcome.kind === 'accepted') return redirect(`${site.prefix}/sign-in?accepted`);
          if (outcome.kind === 'gone') throw new PageRefusal('invitation_gone');
          const { text, status } = refusalOf(outcome, PASSWORD_WRONG);
          return await show(visit, state, text, status);
        } catch (error) {
          if (!(error instanceof InvalidInput)) throw error;
          const errors = { [error.field]: problemText(error.problem) };
          return show(visit, { ...state, errors }, null, 422);
        }
      },
    },
  ];
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
      <Field
        name="password"
        label="Password"
        type="password"
        hint="12 characters or more. If you already sign in here with this e-mail address, enter your password."
        form={form}
        required
        autocomplete="new-password"
        maxLength={200}
      />
      <button class="btn">Accept</button>
    </form>
  );
}
