/** Signing in with a passkey alone. */
import { browserOf, get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import { Box } from './box';
import type { AccountPages } from './page-options';
import { PASSKEY_WRONG, passkeyAnswer, passkeyCookie, PasskeyForm } from './passkey-form';
import { nextOf, openSession, signInPath, withNext } from './sign-in-parts';

export function passkeySignInPages(options: AccountPages): Route[] {
  const { site, product, users, publicUrl: origin } = options;
  const path = signInPath(options);

  async function form(visit: Visit, problem: string | null, status = 200) {
    const ceremony = await users.passkeys.request(origin, null);
    return page(
      'Sign in with a passkey',
      <Box product={product} title="Sign in with a passkey" problem={problem}>
        <PasskeyForm
          action={`${path}/passkey`}
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

  return [
    get('/sign-in/passkey', null, (visit) => {
      if (!users.passkeys.arePossible(origin)) return redirect(path);
      return visit.session === null ? form(visit, null) : redirect(site.home);
    }),
    post('/sign-in/passkey', null, async (visit) => {
      const answer = passkeyAnswer(site, visit);
      const browser = browserOf(site, visit);
      const opened = await users.passkeys.signIn(site.kind, origin, answer, null, browser);
      return opened === null
        ? form(visit, PASSKEY_WRONG, 401)
        : openSession(options, visit, opened);
    }),
  ];
}
