/** Sign-in, its second step, and sign-out. */
import type { OpenedSession } from '../../../kit/service/sessions';
import { type SignInRefusal, type Step, STEP_MINUTES } from '../sign-in';
import { Alert } from '../../../kit/pages/components';
import { Field, type FormState } from '../../../kit/pages/forms';
import {
  type Answer,
  browserOf,
  cookieName,
  ownPath,
  page,
  redirect,
  type Route,
  sessionCookie,
} from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { Box } from './box';
import { endSession, signedInAnswer } from './opened-session';
import { PASSKEY_WRONG, passkeyAnswer, passkeyCookie, PasskeyForm } from './passkey-form';
import { secondStepPage } from './second-step';

/** Where a sign-in sends its own redirect, to notice that the browser dropped the cookie. */
const CHECK = 'signed-in';
const SIGNED_OUT = 'signed-out';

export function signInPages(options: AccountPages): Route[] {
  const { site, product, users, singleSignOn, publicUrl: origin } = options;
  const path = `${site.prefix}/sign-in`;
  const stepPath = `${path}/second-step`;
  const passkeyPath = `${path}/passkey`;
  const withNext = (to: string, visit: Visit) => `${to}?next=${encodeURIComponent(nextOf(visit))}`;
  const session = sessionCookie(site, origin);
  const stepCookie = `${cookieName(site)}_step`;
  const noStep: SetCookie = { name: stepCookie, value: null, maxAgeSeconds: 0, path };

  /** Without the provider of single sign-on. */
  const local = (visit: Visit) => (
    <>
      <PasswordForm action={path} next={nextOf(visit)} form={{ values: visit.form, errors: {} }} />
      {users.passkeys.arePossible(origin) ? (
        <a class="btn js-only" data-variant="outline" href={withNext(passkeyPath, visit)}>
          Sign in with a passkey
        </a>
      ) : null}
      {users.sendsMail ? (
        <a href={`${site.prefix}/forgotten-password`}>Forgotten password?</a>
      ) : null}
    </>
  );

  const form = (visit: Visit, problem: string | null, status = 200, news?: string) =>
    page(
      'Sign in',
      <Box product={product} title="Sign in" problem={problem}>
        {news === undefined ? null : <Alert tone="good" title={news} />}
        {singleSignOn === null ? (
          local(visit)
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
                {local(visit)}
              </div>
            </details>
          </>
        )}
      </Box>,
      { status },
    );

  const stepForm = (visit: Visit, step: Step, problem: string | null, status = 200) =>
    secondStepPage(options, {
      ...{ step, action: stepPath, hidden: { next: nextOf(visit) }, back: path },
      ...{ problem, status },
    });

  async function passkeyPage(visit: Visit, problem: string | null, status = 200) {
    const ceremony = await users.passkeys.request(origin, null);
    return page(
      'Sign in with a passkey',
      <Box product={product} title="Sign in with a passkey" problem={problem}>
        <PasskeyForm
          action={passkeyPath}
          use="get"
          options={ceremony.options}
          label="Use a passkey"
          next={nextOf(visit)}
          auto={problem === null}
        />
        <a class="btn" data-variant="ghost" href={withNext(path, visit)}>
          Use the password
        </a>
      </Box>,
      { status, passkeys: true, cookies: [passkeyCookie(site, ceremony)] },
    );
  }

  const finish = (visit: Visit, opened: OpenedSession): Promise<Answer> =>
    signedInAnswer(options, visit, opened, { next: nextOf(visit), cookies: [noStep] });

  const readStep = (visit: Visit): Promise<Step | null> =>
    users.signIn.step(site.kind, visit.cookies.get(stepCookie) ?? '');

  return [
    {
      method: 'get',
      path: '/sign-in',
      needs: null,
      run: (visit) => {
        if (visit.session !== null) return redirect(site.home);
        if (visit.query.has('expired')) return form(visit, STEP_EXPIRED);
        if (visit.query.has('accepted')) return form(visit, null, 200, ACCEPTED);
        if (visit.query.has('reset')) return form(visit, null, 200, RESET);
        return form(visit, visit.query.has(CHECK) ? COOKIE_LOST : null);
      },
    },
    {
      method: 'post',
      path: '/sign-in',
      cost: 'password',
      needs: null,
      run: async (visit) => {
        const outcome = await users.signIn.withPassword({
          kind: site.kind,
          email: (visit.form.get('email') ?? '').trim(),
          password: visit.form.get('password') ?? '',
          ...browserOf(site, visit),
        });
        switch (outcome.kind) {
          case 'signed_in':
            return finish(visit, outcome);
          case 'second_step':
            return redirect(withNext(stepPath, visit), [
              { name: stepCookie, value: outcome.step, maxAgeSeconds: STEP_MINUTES * 60, path },
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
      },
    },
    {
      method: 'get',
      path: '/sign-in/second-step',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        return step === null ? redirect(path) : stepForm(visit, step, null);
      },
    },
    {
      method: 'post',
      path: '/sign-in/second-step',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        if (step === null) return redirect(`${path}?expired`, [noStep]);
        const code = visit.form.get('code') ?? '';
        const outcome = await users.signIn.withCode(site.kind, step, code, browserOf(site, visit));
        if (outcome.kind === 'signed_in') return finish(visit, outcome);
        const { text, status } = refusalOf(outcome, CODE_WRONG);
        return stepForm(visit, step, text, status);
      },
    },
    {
      method: 'post',
      path: '/sign-in/second-step/passkey',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        if (step === null) return redirect(`${path}?expired`, [noStep]);
        const answer = passkeyAnswer(site, visit);
        const browser = browserOf(site, visit);
        const opened = await users.passkeys.signIn(site.kind, origin, answer, step, browser);
        if (opened !== null) return finish(visit, opened);
        return stepForm(visit, step, PASSKEY_WRONG, 401);
      },
    },
    {
      method: 'get',
      path: '/sign-in/passkey',
      needs: null,
      run: (visit) => {
        if (!users.passkeys.arePossible(origin)) return redirect(path);
        return visit.session === null ? passkeyPage(visit, null) : redirect(site.home);
      },
    },
    {
      method: 'post',
      path: '/sign-in/passkey',
      needs: null,
      run: async (visit) => {
        const answer = passkeyAnswer(site, visit);
        const browser = browserOf(site, visit);
        const opened = await users.passkeys.signIn(site.kind, origin, answer, null, browser);
        return opened === null ? passkeyPage(visit, PASSKEY_WRONG, 401) : finish(visit, opened);
      },
    },
    {
      method: 'get',
      path: '/sign-in/done',
      needs: null,
      run: (visit) => {
        if (visit.session === null) return redirect(`${path}?${CHECK}=1`);
        return redirect(ownPath(visit.query.get('next') ?? '', site.prefix) ?? site.home);
      },
    },
    {
      method: 'post',
      path: '/sign-out',
      needs: null,
      run: async (visit) => {
        await endSession(options, visit);
        return redirect(singleSignOn === null ? path : `${path}?${SIGNED_OUT}`, [
          { ...session, value: null, maxAgeSeconds: 0 },
        ]);
      },
    },
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
export const CODE_WRONG =
  'The code is wrong, or it was used before. Wait for the next code and try again.';

/** @param wrong of what was refused */
export function refusalOf(refusal: SignInRefusal, wrong: string): { text: string; status: number } {
  switch (refusal.kind) {
    case 'refused':
      return { text: wrong, status: 401 };
    case 'limited':
      return {
        text: `Too many failed attempts. Try again in ${refusal.minutes} minutes, or in a browser in which you signed in before.`,
        status: 429,
      };
    case 'busy':
      return {
        text: 'Too many people are signing in. Try again in a few seconds.',
        status: 503,
      };
  }
}

function nextOf(visit: Visit): string {
  return visit.form.get('next') ?? visit.query.get('next') ?? '';
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
