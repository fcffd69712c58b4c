/** The page that asks for the second factor, after a password: at sign-in and when an invitation is accepted. */
import { type Step, STEP_MINUTES } from '../sign-in';
import { EMPTY_FORM, Field } from '../../../kit/pages/forms';
import {
  type Answer,
  cookieName,
  get,
  page,
  post,
  redirect,
  type Route,
  type Site,
} from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { Box } from './box';
import { passkeyCookie, PasskeyForm } from './passkey-form';

export const CODE_WRONG =
  'The code is wrong, or it was used before. Wait for the next code and try again.';

/** Keeps the sealed step between the password and the second factor; null ends it. @param at `/sign-in` */
export function stepCookie(
  site: Pick<Site, 'kind' | 'prefix'>,
  at: string,
  step: string | null,
): SetCookie {
  const maxAgeSeconds = step === null ? 0 : STEP_MINUTES * 60;
  return { name: `${cookieName(site)}_step`, path: site.prefix + at, value: step, maxAgeSeconds };
}

/** What a second factor leads to; a problem is shown on the page. */
type Proved = Promise<Answer | { kind: 'problem'; text: string; status: number }>;

interface SecondStepFlow {
  /** Below the site's prefix; the step is at `/second-step` below it. */
  at: string;
  hidden: (visit: Visit) => Readonly<Record<string, string>>;
  /** Where Cancel leads. */
  back: (visit: Visit) => string;
  /** Where a person goes whose step has ended. */
  ended: (visit: Visit) => string;
  withCode: (visit: Visit, step: Step, code: string) => Proved;
  withPasskey: (visit: Visit, step: Step) => Proved;
}

export function secondStepRoutes(options: AccountPages, flow: SecondStepFlow): Route[] {
  const { site, users } = options;
  const none = stepCookie(site, flow.at, null);
  const path = `${flow.at}/second-step`;
  const readStep = (visit: Visit): Promise<Step | null> =>
    users.signIn.step(site.kind, visit.cookies.get(none.name) ?? '');
  const show = (visit: Visit, step: Step, problem: string | null, status = 200) =>
    secondStepPage(options, {
      ...{ step, action: site.prefix + path, hidden: flow.hidden(visit), back: flow.back(visit) },
      ...{ problem, status },
    });
  const prove = (under: string, proved: (visit: Visit, step: Step) => Proved): Route =>
    post(path + under, null, async (visit) => {
      const step = await readStep(visit);
      if (step === null) return redirect(flow.ended(visit), [none]);
      const outcome = await proved(visit, step);
      if (outcome.kind !== 'problem') return outcome;
      return show(visit, step, outcome.text, outcome.status);
    });
  return [
    get(path, null, async (visit) => {
      const step = await readStep(visit);
      return step === null ? redirect(flow.back(visit)) : show(visit, step, null);
    }),
    prove('', (visit, step) => flow.withCode(visit, step, visit.form.get('code') ?? '')),
    prove('/passkey', (visit, step) => flow.withPasskey(visit, step)),
  ];
}

interface SecondStep {
  step: Step;
  /** Where the code is sent; a passkey's answer is sent to `/passkey` below it. */
  action: string;
  hidden: Readonly<Record<string, string>>;
  /** Where Cancel leads. */
  back: string;
  problem: string | null;
  status: number;
}

export async function secondStepPage(
  { site, product, users, publicUrl: origin }: AccountPages,
  { step, action, hidden, back, problem, status }: SecondStep,
): Promise<Answer> {
  const isPasskey = step.passkeys > 0 && users.passkeys.arePossible(origin);
  const ceremony = isPasskey ? await users.passkeys.request(origin, step) : null;
  const kept = Object.entries(hidden).map(([name, value]) => (
    <input type="hidden" name={name} value={value} />
  ));
  return page(
    'Second step',
    <Box product={product} title="Second step" problem={problem}>
      {ceremony === null ? null : (
        <PasskeyForm
          action={`${action}/passkey`}
          use="get"
          options={ceremony.options}
          label="Use a passkey"
        >
          {kept}
        </PasskeyForm>
      )}
      <form method="post" action={action} class="stack">
        {kept}
        <Field
          name="code"
          label={step.totp ? 'Code' : 'Recovery code'}
          hint={
            step.totp ? 'The six digits in your authenticator app, or a recovery code.' : undefined
          }
          form={EMPTY_FORM}
          required
          autofocus={step.totp}
          autocomplete="one-time-code"
          maxLength={40}
        />
        <button class="btn">Continue</button>
        <a class="btn" data-variant="ghost" href={back}>
          Cancel
        </a>
      </form>
    </Box>,
    {
      status,
      passkeys: ceremony !== null,
      cookies: ceremony === null ? [] : [passkeyCookie(site, ceremony)],
    },
  );
}
