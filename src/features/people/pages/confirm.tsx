/** "Sign in again": asked for before actions that matter (`recent` of a route). */
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { EMPTY_FORM, Field } from '../../../kit/pages/forms';
import { browserOf, get, ownPath, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { SignedInVisit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { PASSKEY_WRONG, passkeyAnswer, passkeyCookie, PasskeyForm } from './passkey-form';
import { refusalOf } from './sign-in-parts';

export function confirmPages({ site, users, publicUrl: origin }: AccountPages): Route[] {
  const path = `${site.prefix}/confirm`;

  async function show(visit: SignedInVisit, problem: string | null, status = 200) {
    const next = visit.form.get('next') ?? visit.query.get('next') ?? '';
    if (visit.session.byDirectory) {
      return page(
        'Sign in again',
        <AtProvider href={`${path}/sso?next=${encodeURIComponent(next)}`} />,
      );
    }
    const { totp, passkeys } = await users.factors.summary(visit.session);
    const isPasskey = passkeys > 0 && users.passkeys.arePossible(origin);
    const ceremony = isPasskey ? await users.passkeys.request(origin, visit.session) : null;
    return page(
      'Sign in again',
      <Confirm
        path={path}
        next={next}
        totp={totp}
        hasPasskey={passkeys > 0}
        passkey={ceremony?.options ?? null}
        problem={problem}
      />,
      {
        status,
        passkeys: ceremony !== null,
        cookies: ceremony === null ? [] : [passkeyCookie(site, ceremony)],
      },
    );
  }

  return [
    get('/confirm', { needs: 'read', beforeEnrolment: true }, (visit) => show(visit, null)),
    post('/confirm', { cost: 'password', needs: 'read', beforeEnrolment: true }, async (visit) => {
      const { form, session } = visit;
      const proof = { password: form.get('password') ?? '', code: form.get('code') ?? '' };
      const outcome = await users.signIn.again(session, proof, browserOf(site, visit));
      if (outcome.kind === 'passed') {
        return redirect(ownPath(form.get('next') ?? '', site.prefix) ?? site.home);
      }
      const { text, status } = refusalOf(outcome, 'The password or the code is wrong.');
      return show(visit, text, status);
    }),
    post('/confirm/passkey', { needs: 'read', beforeEnrolment: true }, async (visit) => {
      const answer = passkeyAnswer(site, visit);
      if (!(await users.passkeys.again(visit.session, origin, answer))) {
        return show(visit, PASSKEY_WRONG, 401);
      }
      return redirect(ownPath(visit.form.get('next') ?? '', site.prefix) ?? site.home);
    }),
  ];
}

function Head() {
  return (
    <PageHead
      title="Sign in again"
      lead="This action needs a sign-in within the last 10 minutes."
    />
  );
}

/** The form that sends a person of the OpenID provider there again. */
function AtProvider({ href }: { href: string }) {
  return (
    <>
      <Head />
      <Card>
        <p>The single sign-on provider asks you to prove again who you are.</p>
        <div>
          <a class="btn" data-variant="primary" href={href}>
            Continue with single sign-on
          </a>
        </div>
      </Card>
    </>
  );
}

interface ConfirmProps {
  path: string;
  next: string;
  totp: boolean;
  hasPasskey: boolean;
  /** The options for the browser; null if the person has none, or cannot use one here. */
  passkey: object | null;
  problem: string | null;
}

function Confirm({ path, next, totp, hasPasskey, passkey, problem }: ConfirmProps) {
  const form = <PasswordForm path={path} next={next} totp={totp} coded={totp || hasPasskey} />;
  return (
    <>
      <Head />
      <Card>
        {problem === null ? null : <Alert tone="bad" title={problem} />}
        {passkey === null ? null : (
          <PasskeyForm
            action={`${path}/passkey`}
            use="get"
            options={passkey}
            label="Use a passkey"
            next={next}
          />
        )}
        {passkey === null || totp ? (
          form
        ) : (
          <details class="confirm" open={problem !== null}>
            <summary class="btn" data-variant="outline">
              Use a recovery code …
            </summary>
            <div class="confirm-body">{form}</div>
          </details>
        )}
      </Card>
    </>
  );
}

interface PasswordFormProps {
  path: string;
  next: string;
  totp: boolean;
  /** Whether the person has a second factor, so that the password alone proves nothing. */
  coded: boolean;
}

function PasswordForm({ path, next, totp, coded }: PasswordFormProps) {
  return (
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
      {coded ? (
        <Field
          name="code"
          label={totp ? 'Code' : 'Recovery code'}
          hint={totp ? 'The six digits in your authenticator app, or a recovery code.' : undefined}
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
  );
}
