/** Sign-in, its second step, and sign-out. */
import type { ComponentChildren } from 'preact';
import { DEVICE_DAYS, type OpenedSession } from '../../services/users/sessions';
import { type SignInRefusal, type Step, STEP_MINUTES } from '../../services/users/sign-in';
import { Alert, EMPTY_FORM, Field, type FormState } from '../components';
import {
  type Answer,
  browserOf,
  deviceCookie,
  ownPath,
  page,
  redirect,
  type Route,
  sessionCookie,
  type SetCookie,
  type Visit,
} from '../site';
import type { AccountPages } from './account-pages';

/** Where a sign-in sends its own redirect, to notice that the browser dropped the cookie. */
const CHECK = 'signed-in';

export function signInPages({ site, product, users }: AccountPages): Route[] {
  const path = `${site.prefix}/sign-in`;
  const stepPath = `${path}/second-step`;
  const stepCookie = `${sessionCookie(site)}_step`;
  const noStep: SetCookie = { name: stepCookie, value: null, maxAgeSeconds: 0, path };

  const form = (visit: Visit, problem: string | null, status = 200, news?: string) =>
    page(
      'Sign in',
      <Box product={product} title="Sign in" problem={problem}>
        {news === undefined ? null : <Alert tone="good" title={news} />}
        <PasswordForm
          action={path}
          next={nextOf(visit)}
          form={{ values: visit.form, errors: {} }}
        />
      </Box>,
      { status },
    );

  const stepForm = (visit: Visit, problem: string | null, status = 200) =>
    page(
      'Second step',
      <Box product={product} title="Second step" problem={problem}>
        <CodeForm action={stepPath} next={nextOf(visit)} back={path} />
      </Box>,
      { status },
    );

  /** The session of the same browser ends: its token must not outlive the new one. */
  async function finish(visit: Visit, { token, hours, device }: OpenedSession): Promise<Answer> {
    await endSession(visit);
    const next = ownPath(nextOf(visit), site.prefix) ?? site.home;
    return redirect(`${path}/done?next=${encodeURIComponent(next)}`, [
      { name: sessionCookie(site), value: token, maxAgeSeconds: hours * 3600 },
      { name: deviceCookie(site), value: device, maxAgeSeconds: DEVICE_DAYS * 86_400 },
      noStep,
    ]);
  }

  async function endSession(visit: Visit): Promise<void> {
    const token = visit.cookies.get(sessionCookie(site));
    if (token !== undefined) await users.sessions.signOut(site.kind, token);
  }

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
        return form(visit, visit.query.has(CHECK) ? COOKIE_LOST : null);
      },
    },
    {
      method: 'post',
      path: '/sign-in',
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
            return redirect(`${stepPath}?next=${encodeURIComponent(nextOf(visit))}`, [
              { name: stepCookie, value: outcome.step, maxAgeSeconds: STEP_MINUTES * 60, path },
            ]);
          case 'refused':
          case 'limited':
          case 'busy': {
            const { text, status } = refusalOf(
              outcome,
              'The e-mail address or the password is wrong.',
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
      run: async (visit) =>
        (await readStep(visit)) === null ? redirect(path) : stepForm(visit, null),
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
        return stepForm(visit, text, status);
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
        await endSession(visit);
        return redirect(path, [{ name: sessionCookie(site), value: null, maxAgeSeconds: 0 }]);
      },
    },
  ];
}

const COOKIE_LOST =
  'Your browser did not keep the session cookie. Open this page over HTTPS and allow cookies.';
const ACCEPTED = 'You accepted the invitation. Sign in.';
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

interface BoxProps {
  product: string;
  title: string;
  problem: string | null;
  children: ComponentChildren;
}

/** A page of somebody who is not signed in. */
export function Box({ product, title, problem, children }: BoxProps) {
  return (
    <section class="box">
      <div class="brand">
        <span class="logo" aria-hidden="true">
          G
        </span>
        <span>
          <b>Payments gateway</b>
          <small>{product}</small>
        </span>
      </div>
      <h1>{title}</h1>
      {problem === null ? null : <Alert tone="bad" title={problem} />}
      {children}
    </section>
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
        label="E-mail address"
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

function CodeForm({ action, next, back }: { action: string; next: string; back: string }) {
  return (
    <form method="post" action={action} class="stack">
      <input type="hidden" name="next" value={next} />
      <Field
        name="code"
        label="Code"
        hint="The six digits in your authenticator app, or a recovery code."
        form={EMPTY_FORM}
        required
        autofocus
        autocomplete="one-time-code"
        maxLength={40}
      />
      <button class="btn">Continue</button>
      <a class="btn" data-variant="ghost" href={back}>
        Cancel
      </a>
    </form>
  );
}
