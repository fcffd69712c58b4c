/** Sign-in and sign-out, the same for both sites. */
import type { SignInOutcome, SignInRequest } from '../../services/users/sign-in';
import { Alert, Field, type FormState } from '../components';
import { page, redirect, type Route, sessionCookie, type Site, type Visit } from '../site';

export interface SignInPagesOptions {
  site: Pick<Site, 'kind' | 'prefix' | 'home'>;
  /** Above the form, such as `Operator console`. */
  product: string;
  signIn: (request: SignInRequest) => Promise<SignInOutcome>;
  signOut: (token: string) => Promise<void>;
}

/** Where a sign-in sends its own redirect, to notice that the browser dropped the cookie. */
const CHECK = 'signed-in';

export function signInPages({ site, product, signIn, signOut }: SignInPagesOptions): Route[] {
  const path = `${site.prefix}/sign-in`;

  const form = (visit: Visit, problem: string | null, status = 200) => {
    const values = new URLSearchParams({ email: visit.form.get('email') ?? '' });
    const next = visit.form.get('next') ?? visit.query.get('next') ?? '';
    return page(
      'Sign in',
      <SignIn
        product={product}
        action={path}
        next={next}
        problem={problem}
        form={{ values, errors: {} }}
      />,
      { status },
    );
  };

  return [
    {
      method: 'get',
      path: '/sign-in',
      needs: null,
      run: (visit) => {
        if (visit.session !== null) return redirect(site.home);
        return form(visit, visit.query.has(CHECK) ? COOKIE_LOST : null);
      },
    },
    {
      method: 'post',
      path: '/sign-in',
      needs: null,
      run: async (visit) => {
        const outcome = await signIn({
          kind: site.kind,
          email: (visit.form.get('email') ?? '').trim(),
          password: visit.form.get('password') ?? '',
          address: visit.address,
          userAgent: visit.userAgent,
        });
        switch (outcome.kind) {
          case 'signed_in': {
            // The session of the same browser ends: its token must not outlive the new one.
            await endSession(visit);
            const cookie = { name: sessionCookie(site), value: outcome.token };
            const next = ownPath(visit.form.get('next') ?? '', site.prefix) ?? site.home;
            return redirect(`${path}/done?next=${encodeURIComponent(next)}`, [
              { ...cookie, maxAgeSeconds: outcome.hours * 3600 },
            ]);
          }
          case 'refused':
            return form(visit, 'The e-mail address or the password is wrong.', 401);
          case 'limited':
            return form(
              visit,
              `Too many failed attempts. Try again in ${outcome.minutes} minutes, or ask an administrator to reset the password.`,
              429,
            );
          case 'busy':
            return form(visit, 'Too many people are signing in. Try again in a few seconds.', 503);
        }
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

  async function endSession(visit: Visit): Promise<void> {
    const token = visit.cookies.get(sessionCookie(site));
    if (token !== undefined) await signOut(token);
  }
}

const COOKIE_LOST =
  'Your browser did not keep the session cookie. Open this page over HTTPS and allow cookies.';

/** Only a path of the same site: a link must not lead a signed-in user elsewhere. */
function ownPath(text: string, prefix: string): string | null {
  const url = URL.parse(text, 'http://own.invalid');
  if (url?.origin !== 'http://own.invalid' || !url.pathname.startsWith(`${prefix}/`)) return null;
  return url.pathname + url.search;
}

interface SignInProps {
  product: string;
  action: string;
  next: string;
  problem: string | null;
  form: FormState;
}

function SignIn({ product, action, next, problem, form }: SignInProps) {
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
      <h1>Sign in</h1>
      {problem === null ? null : <Alert tone="bad" title={problem} />}
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
    </section>
  );
}
