/** A new password by mail: the page that asks for the link, and those that it leads to. */
import { InvalidInput } from '../../../kit/service/refusal';
import type { OpenReset } from '../password-resets';
import { STEP_MINUTES } from '../sign-in';
import { Alert } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, type FormState } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import {
  browserOf,
  cookieName,
  get,
  page,
  post,
  redirect,
  type Route,
} from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { Box } from './box';
import { PASSKEY_WRONG, passkeyAnswer } from './passkey-form';
import { CODE_WRONG, secondStepPage } from './second-step';
import { refusalOf } from './sign-in-parts';
import { NewPasswordField } from './new-password-field';

export function resetPages(options: AccountPages): Route[] {
  return [...forgottenRoutes(options), ...resetRoutes(options)];
}

function forgottenRoutes({ site, product, users }: AccountPages): Route[] {
  const path = `${site.prefix}/forgotten-password`;
  const signIn = `${site.prefix}/sign-in`;
  const show = (form: FormState, problem: string | null = null, status = 200) =>
    page(
      'Forgotten password',
      <Box product={product} title="Forgotten password" problem={problem}>
        {users.sendsMail ? <Ask action={path} form={form} /> : <p>{NO_MAIL[site.kind]}</p>}
        <a class="btn" data-variant="ghost" href={signIn}>
          Back to sign-in
        </a>
      </Box>,
      { status },
    );
  return [
    get('/forgotten-password', null, ({ query }) => {
      if (!query.has('sent')) return show(EMPTY_FORM);
      return page(
        'Forgotten password',
        <Box product={product} title="Forgotten password" problem={null}>
          <Alert tone="good" title={SENT} />
          <a class="btn" data-variant="ghost" href={signIn}>
            Back to sign-in
          </a>
        </Box>,
      );
    }),
    post('/forgotten-password', null, async (visit) => {
      if (!users.sendsMail) return redirect(path);
      const form = { values: visit.form, errors: {} };
      const email = visit.form.get('email') ?? '';
      try {
        const isTaken = await users.resets.request(site.kind, email, browserOf(site, visit));
        return isTaken ? redirect(`${path}?sent`) : show(form, TOO_MANY, 429);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        return show({ ...form, errors: { [error.field]: error.message } }, null, 422);
      }
    }),
  ];
}

const SENT =
  'If a user has this email address, a link is on its way to it. It works for 30 minutes. Look into the spam folder too.';
const TOO_MANY = 'Too many links were asked for from your network. Try again in an hour.';
const NO_MAIL = {
  merchant: 'This gateway sends no mail. Ask support for a new password.',
  operator:
    'This gateway sends no mail. Ask for a new password who has the admin command on the server.',
} as const;

function Ask({ action, form }: { action: string; form: FormState }) {
  return (
    <form method="post" action={action} class="stack">
      <Field
        name="email"
        label="Email address"
        type="email"
        hint="You get a link to choose a new password."
        form={form}
        required
        autocomplete="username"
        maxLength={254}
      />
      <button class="btn">Send the link</button>
    </form>
  );
}

function resetRoutes(options: AccountPages): Route[] {
  const { site, product, users, publicUrl: origin } = options;
  const path = `${site.prefix}/reset-password`;
  const stepPath = `${path}/second-step`;
  const proofCookie = `${cookieName(site)}_reset`;
  const noProof: SetCookie = { name: proofCookie, value: null, maxAgeSeconds: 0, path };
  const tokenOf = (visit: Visit) => visit.form.get('token') ?? visit.query.get('token') ?? '';
  const linkOf = (visit: Visit) => `${path}?token=${encodeURIComponent(tokenOf(visit))}`;
  const proofOf = (visit: Visit) => visit.cookies.get(proofCookie) ?? '';

  /** @throws PageRefusal when it is gone */
  async function findReset(visit: Visit): Promise<OpenReset> {
    const reset = await users.resets.find(site.kind, tokenOf(visit), proofOf(visit));
    if (reset === null) throw new PageRefusal('reset_gone');
    return reset;
  }

  const showStep = (visit: Visit, { step }: OpenReset, problem: string | null, status = 200) =>
    secondStepPage(options, {
      ...{ step, action: stepPath, hidden: { token: tokenOf(visit) } },
      ...{ back: `${site.prefix}/sign-in`, problem, status },
    });

  const showForm = (visit: Visit, reset: OpenReset, form: FormState, status = 200) =>
    page(
      'New password',
      <Box product={product} title="New password" problem={null}>
        <NewPassword action={path} token={tokenOf(visit)} reset={reset} form={form} />
      </Box>,
      { status },
    );

  /** The two ways to prove a second factor. */
  const proveRoute = (
    under: string,
    wrong: string,
    prove: (visit: Visit) => ReturnType<typeof users.resets.proveWithCode>,
  ): Route =>
    post(`/reset-password/second-step${under}`, null, async (visit) => {
      const reset = await findReset(visit);
      const outcome = await prove(visit);
      if (outcome.kind === 'gone') throw new PageRefusal('reset_gone');
      if (outcome.kind === 'proved') {
        const maxAgeSeconds = STEP_MINUTES * 60;
        return redirect(linkOf(visit), [
          { name: proofCookie, value: outcome.proof, maxAgeSeconds, path },
        ]);
      }
      const { text, status } = refusalOf(outcome, wrong);
      return showStep(visit, reset, text, status);
    });

  return [
    get('/reset-password', null, async (visit) => {
      const reset = await findReset(visit);
      return reset.isProved ? showForm(visit, reset, EMPTY_FORM) : showStep(visit, reset, null);
    }),
    post('/reset-password', { cost: 'password', needs: null }, async (visit) => {
      const reset = await findReset(visit);
      const password = visit.form.get('password') ?? '';
      try {
        const outcome = await users.resets.finish(
          site.kind,
          tokenOf(visit),
          proofOf(visit),
          password,
        );
        if (outcome === 'gone') throw new PageRefusal('reset_gone');
        if (outcome === 'second_step') return redirect(linkOf(visit), [noProof]);
        return redirect(`${site.prefix}/sign-in?reset`, [noProof]);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        const errors = { [error.field]: error.message };
        return showForm(visit, reset, { ...EMPTY_FORM, errors }, 422);
      }
    }),
    proveRoute('', CODE_WRONG, (visit) =>
      users.resets.proveWithCode(
        site.kind,
        tokenOf(visit),
        visit.form.get('code') ?? '',
        browserOf(site, visit),
      ),
    ),
    proveRoute('/passkey', PASSKEY_WRONG, (visit) =>
      users.resets.proveWithPasskey(site.kind, tokenOf(visit), {
        ...passkeyAnswer(site, visit),
        origin,
      }),
    ),
  ];
}

interface NewPasswordProps {
  action: string;
  token: string;
  reset: OpenReset;
  form: FormState;
}

function NewPassword({ action, token, reset: { step }, form }: NewPasswordProps) {
  return (
    <form method="post" action={action} class="stack">
      <p>
        For <b>{step.email}</b>. All your sessions end.
      </p>
      <Factors totp={step.totp} passkeys={step.passkeys} />
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="username" autocomplete="username" value={step.email} />
      <NewPasswordField form={form} />
      <button class="btn">Save the password</button>
    </form>
  );
}

/** What the person signs in with besides. */
function Factors({ totp, passkeys }: { totp: boolean; passkeys: number }) {
  const kept = [
    ...(totp ? ['the authenticator app'] : []),
    ...(passkeys === 1 ? ['1 passkey'] : []),
    ...(passkeys > 1 ? [`${passkeys} passkeys`] : []),
  ];
  if (kept.length === 0) return null;
  return (
    <p>
      Your two-step verification stays: {kept.join(' and ')}. Remove those that you do not know
      under Security.
    </p>
  );
}
