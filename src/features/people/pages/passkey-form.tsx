/** A form that the browser fills with a passkey's answer (assets/passkeys.js), and its cookie. */
import type { ComponentChildren } from 'preact';
import { type Answer, type Ceremony, CHALLENGE_MINUTES } from '../passkeys';
import { cookieName, type Site } from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';

export const PASSKEY_WRONG = 'The passkey was not accepted, or the request expired. Try again.';

export function passkeyCookie(
  site: Pick<Site, 'kind' | 'prefix'>,
  { ticket }: Pick<Ceremony<object>, 'ticket'>,
): SetCookie {
  return { name: challengeCookie(site), value: ticket, maxAgeSeconds: CHALLENGE_MINUTES * 60 };
}

export function passkeyAnswer(site: Pick<Site, 'kind'>, visit: Visit): Answer {
  return {
    response: visit.form.get('response') ?? '',
    ticket: visit.cookies.get(challengeCookie(site)) ?? '',
  };
}

function challengeCookie(site: Pick<Site, 'kind'>): string {
  return `${cookieName(site)}_passkey`;
}

interface PasskeyFormProps {
  action: string;
  use: 'create' | 'get';
  options: object;
  label: string;
  /** Starts without a click. */
  auto?: boolean;
  variant?: 'outline' | 'primary';
  next?: string;
  children?: ComponentChildren;
}

export function PasskeyForm(props: PasskeyFormProps) {
  const { action, use, options, label, auto = false, variant = 'primary', next, children } = props;
  return (
    <form
      method="post"
      action={action}
      class="stack js-only"
      data-passkey={use}
      data-options={JSON.stringify(options)}
      data-auto={auto ? '' : undefined}
    >
      {next === undefined ? null : <input type="hidden" name="next" value={next} />}
      <input type="hidden" name="response" />
      {children}
      <p class="field-error" role="alert" data-problem hidden />
      <div>
        <button class="btn" data-variant={variant}>
          {label}
        </button>
      </div>
    </form>
  );
}
