/** "Sign in again": asked for before actions that matter (`recent` of a route). */
import { Card, EMPTY_FORM, Field, PageHead } from '../components';
import { Alert } from '../components';
import { browserOf, ownPath, page, redirect, type Route, type SignedInVisit } from '../site';
import type { AccountPages } from './account-pages';
import { refusalOf } from './sign-in';

export function confirmPages({ site, users }: AccountPages): Route[] {
  const path = `${site.prefix}/confirm`;

  async function show(visit: SignedInVisit, problem: string | null, status = 200) {
    const { totp } = await users.factors.summary(visit.session);
    const next = visit.form.get('next') ?? visit.query.get('next') ?? '';
    return page(
      'Sign in again',
      <Confirm path={path} next={next} totp={totp} problem={problem} />,
      { status },
    );
  }

  return [
    {
      method: 'get',
      path: '/confirm',
      needs: 'read',
      beforeEnrolment: true,
      run: (visit) => show(visit, null),
    },
    {
      method: 'post',
      path: '/confirm',
      needs: 'read',
      beforeEnrolment: true,
      run: async (visit) => {
        const { form, session } = visit;
        const proof = { password: form.get('password') ?? '', code: form.get('code') ?? '' };
        const outcome = await users.signIn.again(session, proof, browserOf(site, visit));
        if (outcome.kind === 'passed') {
          return redirect(ownPath(form.get('next') ?? '', site.prefix) ?? site.home);
        }
        const { text, status } = refusalOf(outcome, 'The password or the code is wrong.');
        return show(visit, text, status);
      },
    },
  ];
}

interface ConfirmProps {
  path: string;
  next: string;
  totp: boolean;
  problem: string | null;
}

function Confirm({ path, next, totp, problem }: ConfirmProps) {
  return (
    <>
      <PageHead
        title="Sign in again"
        lead="This action needs a sign-in within the last 10 minutes."
      />
      <Card>
        {problem === null ? null : <Alert tone="bad" title={problem} />}
        <form method="post" action={path} class="stack">
          <input type="hidden" name="next" value={next} />
          <Field
            name="password"
            label="Password"
            type="password"
            form={EMPTY_FORM}
            required
            autocomplete="current-password"
            maxLength={200}
          />
          {totp ? (
            <Field
              name="code"
              label="Code"
              hint="The six digits in your authenticator app, or a recovery code."
              form={EMPTY_FORM}
              required
              autocomplete="one-time-code"
              maxLength={40}
            />
          ) : null}
          <div>
            <button class="btn">Continue</button>
          </div>
        </form>
      </Card>
    </>
  );
}
