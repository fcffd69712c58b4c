/** The second factors of the signed-in person: authenticator app, recovery codes. */
import { toString as drawQrCode } from 'qrcode';
import { InvalidInput } from '../../services/admin/refusal';
import type { Passkey } from '../../services/users/passkeys';
import type { Enrolment, FactorSummary } from '../../services/users/second-factors';
import { Alert, Card, Empty, Facts, PageHead, Secret, Status, Table, Time } from '../components';
import { Action, Confirm, EMPTY_FORM, Field, FormActions, type FormState } from '../forms';
import { Icon } from '../icon';
import { problemText } from '../refusals';
import { page, redirect, type Route, type SignedInVisit } from '../site';
import type { AccountPages } from './account-pages';
import { PASSKEY_WRONG, passkeyAnswer, passkeyCookie, PasskeyForm } from './passkey-form';

const NAV = { nav: 'security' };

export function securityPages({ site, users, once, publicUrl: origin }: AccountPages): Route[] {
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

  async function showNewPasskey(visit: SignedInVisit, form: FormState, problem: string | null) {
    const ceremony = await users.passkeys.creation(visit.session, origin);
    const status = problem === null && Object.keys(form.errors).length === 0 ? 200 : 422;
    return page(
      'Add a passkey',
      <NewPasskey path={path} options={ceremony.options} form={form} problem={problem} />,
      { ...NAV, status, passkeys: true, cookies: [passkeyCookie(site, ceremony)] },
    );
  }

  const showCodes = (visit: SignedInVisit, codes: readonly string[]) =>
    redirect(codesPath, [once.keep(visit, codesPath, codes.join('\n'))]);

  return [
    {
      method: 'get',
      path: '/security',
      needs: 'read',
      beforeEnrolment: true,
      run: async ({ session, query }) =>
        page(
          'Security',
          <Security
            path={path}
            factors={await users.factors.summary(session)}
            passkeys={
              users.passkeys.arePossible(origin) ? await users.passkeys.list(session) : null
            }
            mustEnrol={session.mustEnrol}
            changed={query.has('changed')}
          />,
          NAV,
        ),
    },
    {
      method: 'post',
      path: '/security/totp/start',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async ({ session }) => {
        await users.factors.startTotp(session);
        return redirect(`${path}/totp`);
      },
    },
    {
      method: 'get',
      path: '/security/totp',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: (visit) => showEnrolment(visit, null),
    },
    {
      method: 'post',
      path: '/security/totp',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async (visit) => {
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
    },
    {
      method: 'post',
      path: '/security/totp/remove',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async ({ session }) => {
        await users.factors.removeTotp(session);
        return redirect(path);
      },
    },
    {
      method: 'get',
      path: '/security/recovery-codes',
      needs: 'read',
      beforeEnrolment: true,
      run: (visit) => {
        const taken = once.take(visit);
        if (taken === null) return redirect(path);
        return page('Recovery codes', <Codes codes={taken.secret} path={path} />, {
          ...NAV,
          cookies: [taken.cookie],
        });
      },
    },
    {
      method: 'post',
      path: '/security/recovery-codes',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async (visit) => {
        const { totp, passkeys } = await users.factors.summary(visit.session);
        if (!totp && passkeys === 0) return redirect(path);
        return showCodes(visit, await users.factors.newRecoveryCodes(visit.session));
      },
    },
    {
      method: 'get',
      path: '/security/passkeys/new',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: (visit) =>
        users.passkeys.arePossible(origin)
          ? showNewPasskey(visit, EMPTY_FORM, null)
          : redirect(path),
    },
    {
      method: 'post',
      path: '/security/passkeys/new',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async (visit) => {
        const { form, session } = visit;
        const answer = { ...passkeyAnswer(site, visit), name: form.get('name') ?? '' };
        try {
          const registered = await users.passkeys.register(session, origin, answer);
          if (registered === null) {
            return await showNewPasskey(visit, { values: form, errors: {} }, PASSKEY_WRONG);
          }
          const { recoveryCodes } = registered;
          return recoveryCodes === null ? redirect(path) : showCodes(visit, recoveryCodes);
        } catch (error) {
          if (!(error instanceof InvalidInput)) throw error;
          const errors = { [error.field]: problemText(error.problem) };
          return showNewPasskey(visit, { values: form, errors }, null);
        }
      },
    },
    {
      method: 'post',
      path: '/security/passkeys/:id/remove',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async ({ session, params }) => {
        await users.passkeys.remove(session, params['id'] ?? '');
        return redirect(path);
      },
    },
  ];
}

interface SecurityProps {
  path: string;
  factors: FactorSummary;
  /** Null: not possible at this address. */
  passkeys: Passkey[] | null;
  mustEnrol: boolean;
  /** The password, just now. */
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
        <Alert tone="wait" title="Set up a second factor to continue.">
          It is required for everybody who signs in here.
        </Alert>
      ) : null}
      <Card
        title={
          <>
            Authenticator app <Status value={factors.totp ? 'enabled' : 'not_set_up'} />
          </>
        }
        lead="A new six-digit code every 30 seconds, asked for after the password."
      >
        <div>
          {factors.totp ? (
            <Confirm
              action={`${path}/totp/remove`}
              label="Remove"
              icon="trash-2"
              effect="Codes of this app are not accepted any more."
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

function PasskeyCard({ path, passkeys }: Pick<SecurityProps, 'path' | 'passkeys'>) {
  if (passkeys === null) {
    return (
      <Card title="Passkeys" lead="Passkeys need a host name; this address is an IP address.">
        <p class="muted">The operator sets PUBLIC_URL to the host name.</p>
      </Card>
    );
  }
  return (
    <Card
      title="Passkeys"
      lead="Sign in with your fingerprint, face, PIN or security key."
      flush
      action={
        <a class="btn js-only" data-variant="outline" href={`${path}/passkeys/new`}>
          <Icon name="plus" /> Add
        </a>
      }
    >
      <Table
        caption="Passkeys"
        rows={passkeys}
        empty={
          <Empty icon="fingerprint" title="No passkeys">
            <p>A passkey cannot be copied or given to a wrong site. Adding one needs JavaScript.</p>
          </Empty>
        }
        columns={[
          { label: 'Name', cell: ({ name }) => name },
          { label: 'Added', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            label: 'Last used',
            wide: true,
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? <span class="muted">Never</span> : <Time at={lastUsedAt} />,
          },
          {
            label: '',
            right: true,
            cell: ({ id, name }) => (
              <Confirm
                action={`${path}/passkeys/${id}/remove`}
                label="Remove"
                icon="trash-2"
                effect={`${name} does not sign you in any more.`}
                confirm="Remove the passkey"
              />
            ),
          },
        ]}
      />
    </Card>
  );
}

interface NewPasskeyProps {
  path: string;
  options: object;
  form: FormState;
  problem: string | null;
}

function NewPasskey({ path, options, form, problem }: NewPasskeyProps) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Security' }}
        title="Add a passkey"
        lead="Your browser asks for your fingerprint, face, PIN or security key."
      />
      <Card>
        {problem === null ? null : <Alert tone="bad" title={problem} />}
        <PasskeyForm
          action={`${path}/passkeys/new`}
          use="create"
          options={options}
          label="Add passkey"
        >
          <Field
            name="name"
            label="Name"
            hint="To tell passkeys apart, such as “Work laptop”."
            form={form}
            required
            maxLength={100}
          />
        </PasskeyForm>
      </Card>
    </>
  );
}

function RecoveryCard({ path, factors }: Pick<SecurityProps, 'path' | 'factors'>) {
  if (!factors.totp && factors.passkeys === 0) return null;
  return (
    <Card title="Recovery codes" lead="Each code signs you in once, in place of the second factor.">
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
  /** SVG. */
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
