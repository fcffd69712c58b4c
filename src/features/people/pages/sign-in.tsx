/** Sign-in with a password, and sign-out. */
import { Alert } from '../../../kit/pages/components';
import { Field, type FormState } from '../../../kit/pages/forms';
import {
  browserOf,
  get,
  ownPath,
  page,
  post,
  redirect,
  type Route,
  sessionCookie,
} from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import { Box } from './box';
import { endSession } from './opened-session';
import type { AccountPages } from './page-options';
import { stepCookie } from './second-step';
import { nextOf, openSession, refusalOf, SIGN_IN, signInPath, withNext } from './sign-in-parts';

/** Where a sign-in sends its own redirect, to notice that the browser dropped the cookie. */
const CHECK = 'signed-in';
const SIGNED_OUT = 'signed-out';

export function signInPages(options: AccountPages): Route[] {
  const { site, users, singleSignOn, publicUrl } = options;
  const path = signInPath(options);
  const session = sessionCookie(site, publicUrl);

  const form = (visit: Visit, problem: string | null, status = 200, news?: string) =>
    page('Sign in', <SignIn {...{ options, visit, problem, news }} />, { status });

  return [
    get('/sign-in', null, (visit) => {
      if (visit.session !== null) return redirect(site.home);
      if (visit.query.has('expired')) return form(visit, STEP_EXPIRED);
      if (visit.query.has('accepted')) return form(visit, null, 200, ACCEPTED);
      if (visit.query.has('reset')) return form(visit, null, 200, RESET);
      return form(visit, visit.query.has(CHECK) ? COOKIE_LOST : null);
    }),
    post('/sign-in', { cost: 'password', needs: null }, async (visit) => {
      const outcome = await users.signIn.withPassword({
        kind: site.kind,
        email: (visit.form.get('email') ?? '').trim(),
        password: visit.form.get('password') ?? '',
        ...browserOf(site, visit),
      });
      switch (outcome.kind) {
        case 'signed_in':
          return openSession(options, visit, outcome);
        case 'second_step':
          return redirect(withNext(`${path}/second-step`, visit), [
            stepCookie(site, SIGN_IN, outcome.step),
          ]);
        case 'no_second_factor':
          return form(visit, NO_SECOND_FACTOR, 403);
        case 'refused':
        case 'limited':
        case 'busy': {
          const { text, status } = refusalOf(
            outcome,
            'The email address or the password is wrong.',
          );
          return form(visit, text, status);
        }
      }
    }),
    get('/sign-in/done', null, (visit) => {
      if (visit.session === null) return redirect(`${path}?${CHECK}=1`);
      return redirect(ownPath(visit.query.get('next') ?? '', site.prefix) ?? site.home);
    }),
    post('/sign-out', null, async (visit) => {
      await endSession(options, visit);
      return redirect(singleSignOn === null ? path : `${path}?${SIGNED_OUT}`, [
        { ...session, value: null, maxAgeSeconds: 0 },
      ]);
    }),
  ];
}

const NO_SECOND_FACTOR =
  'Break-glass needs two-step verification, and you have not set it up. Sign in with single sign-on and add one on the page Security. If ' +
  'the provider is down, another break-glass operator can sign in.';

const COOKIE_LOST =
  'Your browser did not keep the session cookie. Open this page over HTTPS and allow cookies.';
const ACCEPTED = 'You accepted the invitation. Sign in.';
const RESET = 'Your password was changed. Sign in.';
const STEP_EXPIRED = 'The sign-in has expired. Start again.';
interface SignInProps {
  options: AccountPages;
  visit: Visit;
  problem: string | null;
  news?: string | undefined;
}

function SignIn({ options, visit, problem, news }: SignInProps) {
  const { product, singleSignOn } = options;
  const path = signInPath(options);
  const local = <LocalSignIn options={options} visit={visit} />;
  return (
    <Box product={product} title="Sign in" problem={problem}>
      {news === undefined ? null : <Alert tone="good" title={news} />}
      {singleSignOn === null ? (
        local
      ) : (
        <>
          {visit.query.has(SIGNED_OUT) ? (
            <Alert tone="good" title="You signed out here.">
              <a href={`${path}/sso/sign-out`}>Sign out of the provider as well</a>
            </Alert>
          ) : null}
          <a class="btn" data-variant="primary" href={withNext(`${path}/sso`, visit)}>
            Sign in with single sign-on
          </a>
          <details class="confirm" open={problem !== null}>
            <summary class="btn" data-variant="ghost">
              Break-glass sign-in …
            </summary>
            <div class="confirm-body">
              <p class="muted">
                For named operators while the provider is down. Everybody is notified of such a
                sign-in.
              </p>
              {local}
            </div>
          </details>
        </>
      )}
    </Box>
  );
}

/** Without the provider of single sign-on. */
function LocalSignIn({ options, visit }: Pick<SignInProps, 'options' | 'visit'>) {
  const { site, users, publicUrl } = options;
  const path = signInPath(options);
  return (
    <>
      <PasswordForm action={path} next={nextOf(visit)} form={{ values: visit.form, errors: {} }} />
      {users.passkeys.arePossible(publicUrl) ? (
        <a class="btn js-only" data-variant="outline" href={withNext(`${path}/passkey`, visit)}>
          Sign in with a passkey
        </a>
      ) : null}
      {users.sendsMail ? (
        <a href={`${site.prefix}/forgotten-password`}>Forgotten password?</a>
      ) : null}
    </>
  );
}

interface PasswordFormProps {
  action: string;
  next: string;
  form: FormState;
}

function PasswordForm({ action, next, form }: PasswordFormProps) {
  return (
    <form method="post" action={action} class="stack">
      <input type="hidden" name="next" value={next} />
      <Field
        name="email"
        label="Email address"
        type="email"
        form={form}
        required
        autocomplete="username"
        maxLength={254}
      />
      <Field
        name="password"
        label="Password"
        type="password"
        form={form}
        required
        autocomplete="current-password"
        maxLength={200}
      />
      <button class="btn">Sign in</button>
    </form>
  );
}
