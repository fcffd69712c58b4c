/** The passkeys of the signed-in person: the list, a new one, and the removal. */
import { InvalidInput } from '../../../kit/service/refusal';
import type { Passkey } from '../passkeys';
import { Alert, Card, Empty, PageHead, Table, Time } from '../../../kit/pages/components';
import { Confirm, EMPTY_FORM, Field, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { get, page, post, redirect, type Redirect, type Route } from '../../../kit/pages/site';
import type { SignedInVisit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { PASSKEY_WRONG, passkeyAnswer, passkeyCookie, PasskeyForm } from './passkey-form';

type ShowCodes = (visit: SignedInVisit, codes: readonly string[]) => Redirect;

/** @param showCodes leads to the recovery codes that the first second factor brings */
export function passkeyPages(
  { site, users, publicUrl: origin }: AccountPages,
  showCodes: ShowCodes,
): Route[] {
  const path = `${site.prefix}/security`;

  async function showNewPasskey(visit: SignedInVisit, form: FormState, problem: string | null) {
    const ceremony = await users.passkeys.creation(visit.session, origin);
    const status = problem === null && Object.keys(form.errors).length === 0 ? 200 : 422;
    return page(
      'Add a passkey',
      <NewPasskey path={path} options={ceremony.options} form={form} problem={problem} />,
      { nav: 'security', status, passkeys: true, cookies: [passkeyCookie(site, ceremony)] },
    );
  }

  return [
    get(
      '/security/passkeys/new',
      { needs: 'read', beforeEnrolment: true, recent: true },
      (visit) =>
        users.passkeys.arePossible(origin)
          ? showNewPasskey(visit, EMPTY_FORM, null)
          : redirect(path),
    ),
    post(
      '/security/passkeys/new',
      { needs: 'read', beforeEnrolment: true, recent: true },
      async (visit) => {
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
          const errors = { [error.field]: error.message };
          return showNewPasskey(visit, { values: form, errors }, null);
        }
      },
    ),
    post(
      '/security/passkeys/:id/remove',
      { needs: 'read', beforeEnrolment: true, recent: true },
      async ({ session, id }) => {
        await users.passkeys.remove(session, id);
        return redirect(path);
      },
    ),
  ];
}

interface PasskeyCardProps {
  path: string;
  /** Null if not possible at this address. */
  passkeys: Passkey[] | null;
}

export function PasskeyCard({ path, passkeys }: PasskeyCardProps) {
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
            label: 'Actions',
            right: true,
            cell: ({ id, name }) => (
              <Confirm
                action={`${path}/passkeys/${id}/remove`}
                label="Remove"
                icon="trash-2"
                effect={`${name} no longer signs you in.`}
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
