/** The second step of a sign-in: a code or a passkey after the password. */
import { browserOf, type Route } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';
import { PASSKEY_WRONG, passkeyAnswer } from './passkey-form';
import { CODE_WRONG, secondStepRoutes } from './second-step';
import { nextOf, openSession, refusalOf, SIGN_IN, signInPath } from './sign-in-parts';

export function signInSecondStep(options: AccountPages): Route[] {
  const { site, users, publicUrl: origin } = options;
  const path = signInPath(options);
  return secondStepRoutes(options, {
    at: SIGN_IN,
    hidden: (visit) => ({ next: nextOf(visit) }),
    back: () => path,
    ended: () => `${path}?expired`,
    withCode: async (visit, step, code) => {
      const outcome = await users.signIn.withCode(site.kind, step, code, browserOf(site, visit));
      if (outcome.kind === 'signed_in') return openSession(options, visit, outcome);
      return { kind: 'problem', ...refusalOf(outcome, CODE_WRONG) };
    },
    withPasskey: async (visit, step) => {
      const answer = passkeyAnswer(site, visit);
      const browser = browserOf(site, visit);
      const opened = await users.passkeys.signIn(site.kind, origin, answer, step, browser);
      if (opened !== null) return openSession(options, visit, opened);
      return { kind: 'problem', text: PASSKEY_WRONG, status: 401 };
    },
  });
}
