/** The page that asks for the second factor, after a password: at sign-in and when an invitation is accepted. */
import type { Step } from '../sign-in';
import { EMPTY_FORM, Field } from '../../../kit/pages/forms';
import { type Answer, page } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';
import { Box } from './box';
import { passkeyCookie, PasskeyForm } from './passkey-form';

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
