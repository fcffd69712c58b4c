/** The second factors of the signed-in person: authenticator app, recovery codes. Passkeys: passkeys.tsx. */
import { toString as drawQrCode } from 'qrcode';
import type { Passkey } from '../passkeys';
import type { Enrolment, FactorSummary } from '../second-factors';
import { Alert, Card, Facts, PageHead, Secret, Status } from '../../../kit/pages/components';
import {
  Action,
  Confirm,
  EMPTY_FORM,
  Field,
  FormActions,
  type FormState,
} from '../../../kit/pages/forms';
import { get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { SignedInVisit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { PasskeyCard, passkeyPages } from './passkeys';

const NAV = { nav: 'security' };

export function securityPages(pages: AccountPages): Route[] {
  const { site, users, once, publicUrl: origin } = pages;
  const path = `${site.prefix}/security`;
  const codesPath = `${path}/recovery-codes`;

  async function showEnrolment(visit: SignedInVisit, error: string | null) {
    const enrolment = await users.factors.enrolment(visit.session);
    if (enrolment === null) return redirect(path);
    const qrCode = await drawQrCode(enrolment.uri, { type: 'svg', margin: 2 });
    const form = error === null ? EMPTY_FORM : { ...EMPTY_FORM, errors: { code: error } };
    return page(
      'Set up an authenticator app',
      <Enrol enrolment={enrolment} qrCode={qrCode} path={path} form={form} />,
      { ...NAV, status: error === null ? 200 : 422 },
    );
  }

  const showCodes = (visit: SignedInVisit, codes: readonly string[]) =>
    redirect(codesPath, [once.keep(visit, codesPath, codes.join('\n'))]);

  return [
    get('/security', { needs: 'read', beforeEnrolment: true }, async ({ session, query }) =>
      page(
        'Security',
        <Security
          path={path}
          factors={await users.factors.summary(session)}
          passkeys={users.passkeys.arePossible(origin) ? await users.passkeys.list(session) : null}
          mustEnrol={session.mustEnrol}
          changed={query.has('changed')}
        />,
        NAV,
      ),
    ),
    post(
      '/security/totp/start',
      { needs: 'read', beforeEnrolment: true, recent: true },
      async ({ session }) => {
        await users.factors.startTotp(session);
        return redirect(`${path}/totp`);
      },
    ),
    get('/security/totp', { needs: 'read', beforeEnrolment: true, recent: true }, (visit) =>
      showEnrolment(visit, null),
    ),
    post(
      '/security/totp',
      { needs: 'read', beforeEnrolment: true, recent: true },
      async (visit) => {
        const confirmed = await users.factors.confirmTotp(
          visit.session,
          visit.form.get('code') ?? '',
        );
        if (confirmed === null) {
          return showEnrolment(visit, 'The code is wrong. Check the clock of your phone.');
        }
        const { recoveryCodes } = confirmed;
        return recoveryCodes === null ? redirect(path) : showCodes(visit, recoveryCodes);
      },
    ),
    post(
      '/security/totp/remove',
      { needs: 'read', beforeEnrolment: true, recent: true },
      async ({ session }) => {
        await users.factors.removeTotp(session);
        return redirect(path);
      },
    ),
    get('/security/recovery-codes', { needs: 'read', beforeEnrolment: true }, (visit) => {
      const taken = once.take(visit);
      if (taken === null) return redirect(path);
      return page('Recovery codes', <Codes codes={taken.secret} path={path} />, {
        ...NAV,
        cookies: [taken.cookie],
      });
    }),
    post(
      '/security/recovery-codes',
      { needs: 'read', beforeEnrolment: true, recent: true },
      async (visit) => {
        const { totp, passkeys } = await users.factors.summary(visit.session);
        if (!totp && passkeys === 0) return redirect(path);
        return showCodes(visit, await users.factors.newRecoveryCodes(visit.session));
      },
    ),
    ...passkeyPages(pages, showCodes),
  ];
}

interface SecurityProps {
  path: string;
  factors: FactorSummary;
  /** Null if not possible at this address. */
  passkeys: Passkey[] | null;
  mustEnrol: boolean;
  /** Whether the password was just changed. */
  changed: boolean;
}

function Security({ path, factors, passkeys, mustEnrol, changed }: SecurityProps) {
  return (
    <>
      <PageHead title="Security" lead="How you prove who you are.">
        <a class="btn" data-variant="outline" href={`${path}/password`}>
          Change password
        </a>
      </PageHead>
      {changed ? <Alert tone="good" title="The password was changed." /> : null}
      {mustEnrol ? (
        <Alert tone="wait" title="Set up two-step verification to continue.">
          It is required for everybody who signs in here.
        </Alert>
      ) : null}
      <Card
        title={
          <>
            Authenticator app <Status value={factors.totp ? 'enabled' : 'not_set_up'} />
          </>
        }
        lead="The app shows a new six-digit code every 30 seconds. You enter it after the password."
      >
        <div>
          {factors.totp ? (
            <Confirm
              action={`${path}/totp/remove`}
              label="Remove"
              icon="trash-2"
              effect="Codes from this app are no longer accepted."
              confirm="Remove the authenticator app"
            />
          ) : (
            <Action
              action={`${path}/totp/start`}
              label="Set up"
              icon="smartphone"
              variant="primary"
            />
          )}
        </div>
      </Card>
      <PasskeyCard path={path} passkeys={passkeys} />
      <RecoveryCard path={path} factors={factors} />
    </>
  );
}

function RecoveryCard({ path, factors }: Pick<SecurityProps, 'path' | 'factors'>) {
  if (!factors.totp && factors.passkeys === 0) return null;
  return (
    <Card
      title="Recovery codes"
      lead="Each code signs you in once, in place of two-step verification."
    >
      <Facts rows={[['Codes left', `${factors.recoveryCodes} of 10`]]} />
      <div>
        <Confirm
          action={`${path}/recovery-codes`}
          label="New codes"
          icon="refresh-cw"
          effect="All earlier codes stop working."
          confirm="Replace the codes"
        />
      </div>
    </Card>
  );
}

interface EnrolProps {
  enrolment: Enrolment;
  /** The QR code as SVG. */
  qrCode: string;
  path: string;
  form: FormState;
}

function Enrol({ enrolment, qrCode, path, form }: EnrolProps) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Security' }}
        title="Set up an authenticator app"
        lead="Scan the code with an app such as Aegis, 1Password or Google Authenticator."
      />
      <Card>
        <div
          class="qr"
          role="img"
          aria-label="QR code for the authenticator app"
          dangerouslySetInnerHTML={{ __html: qrCode }}
        />
        <p class="muted">Without a camera, enter this key in the app:</p>
        <Secret value={enrolment.secret} label="Copy key" />
        <form method="post" action={`${path}/totp`} class="stack">
          <Field
            name="code"
            label="Code"
            hint="The six digits that the app shows."
            form={form}
            required
            autocomplete="one-time-code"
            maxLength={10}
          />
          <FormActions submit="Turn on" cancel={path} />
        </form>
      </Card>
    </>
  );
}

function Codes({ codes, path }: { codes: string; path: string }) {
  return (
    <>
      <PageHead back={{ href: path, label: 'Security' }} title="Recovery codes" />
      <Alert tone="good" title="Store these codes now. They are not shown again.">
        Each code signs you in once if you lose your phone or passkey.
      </Alert>
      <Card>
        <ul class="codes">
          {codes.split('\n').map((code) => (
            <li>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <div class="actions">
          <button type="button" class="btn js-only" data-variant="outline" data-copy={codes}>
            Copy codes
          </button>
          <a class="btn" href={path}>
            Continue
          </a>
        </div>
      </Card>
    </>
  );
}
