/** The second step of a sign-in: a code or a passkey after the password. */
import type { Step } from '../sign-in';
import { browserOf, redirect, type Route } from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { PASSKEY_WRONG, passkeyAnswer } from './passkey-form';
import { secondStepPage } from './second-step';
import {
  CODE_WRONG,
  nextOf,
  openSession,
  refusalOf,
  signInPath,
  stepCookie,
} from './sign-in-parts';

export function secondStepPages(options: AccountPages): Route[] {
  const { site, users, publicUrl: origin } = options;
  const path = signInPath(options);
  const form = (visit: Visit, step: Step, problem: string | null, status = 200) =>
    secondStepPage(options, {
      ...{ step, action: `${path}/second-step`, hidden: { next: nextOf(visit) }, back: path },
      ...{ problem, status },
    });
  const none = stepCookie(options, null);
  const readStep = (visit: Visit): Promise<Step | null> =>
    users.signIn.step(site.kind, visit.cookies.get(none.name) ?? '');

  return [
    {
      method: 'get',
      path: '/sign-in/second-step',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        return step === null ? redirect(path) : form(visit, step, null);
      },
    },
    {
      method: 'post',
      path: '/sign-in/second-step',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        if (step === null) return redirect(`${path}?expired`, [none]);
        const code = visit.form.get('code') ?? '';
        const outcome = await users.signIn.withCode(site.kind, step, code, browserOf(site, visit));
        if (outcome.kind === 'signed_in') return openSession(options, visit, outcome);
        const { text, status } = refusalOf(outcome, CODE_WRONG);
        return form(visit, step, text, status);
      },
    },
    {
      method: 'post',
      path: '/sign-in/second-step/passkey',
      needs: null,
      run: async (visit) => {
        const step = await readStep(visit);
        if (step === null) return redirect(`${path}?expired`, [none]);
        const answer = passkeyAnswer(site, visit);
        const browser = browserOf(site, visit);
        const opened = await users.passkeys.signIn(site.kind, origin, answer, step, browser);
        if (opened !== null) return openSession(options, visit, opened);
        return form(visit, step, PASSKEY_WRONG, 401);
      },
    },
  ];
}
