/** API keys: list, create, edit, rotate, revoke. The secret is shown once. */
import type { ComponentChildren } from 'preact';
import { apiKeyStatus } from '../../../domain/api-key';
import type { Mode } from '../../../domain/mode';
import { SCOPE_PRESETS, SCOPES } from '../../../domain/scopes';
import {
  createKey,
  findOwnKey,
  listOwnKeys,
  readLiveKeysByApi,
  revokeKey,
  rotateKey,
  setLiveKeysByApi,
} from '../api-keys';
import { fieldsOf } from '../key-rights';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { waitingKey } from '../../approvals/second-person';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  PageHead,
  Secret,
  Status,
  Table,
  Time,
} from '../../../kit/pages/components';
import { ChangeFields, readFields, rowsOf } from '../../../kit/pages/change-form';
import { merchantForm } from '../../../kit/pages/form-pages';
import { Confirm, EMPTY_FORM, Field, FormActions, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import type { Once } from '../../../kit/pages/once';
import { page, redirect } from '../../../kit/pages/site';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { secondPersonOf } from '../../approvals/dashboard/waiting';
import { type Key, keyFormPages } from './key-forms';

const NAV = { nav: 'keys' };

export function keyPages(services: DashboardServices, once: Once): MerchantRoute[] {
  const { db, pepper } = services;
  const pathOf = ({ base }: MerchantVisit, id: string) => `${base}/keys/${id}`;

  async function showKey(visit: MerchantVisit, id: string, more: { wrong?: boolean } = {}) {
    const key = await findOwnKey(db, visit, id);
    const taken = once.take(visit);
    const waiting = await waitingKey(db, visit, id);
    const body = (
      <KeyPage
        secondPerson={await secondPersonOf(services, visit, waiting)}
        apiKey={key}
        path={pathOf(visit, id)}
        base={visit.base}
        secret={taken?.secret ?? null}
        mayChange={visit.may(visit.mode === 'live' ? 'manage' : 'integrate')}
        wrong={more.wrong === true}
      />
    );
    return page(key.name, body, {
      ...NAV,
      status: more.wrong === true ? 422 : 200,
      cookies: taken === null ? [] : [taken.cookie],
    });
  }

  return [
    get('/keys', 'read', async (visit) => {
      const mayChange = visit.may(visit.mode === 'live' ? 'manage' : 'integrate');
      const list = await listOwnKeys(db, visit);
      const byApi = visit.mode === 'live' ? await readLiveKeysByApi(db, visit.accountId) : null;
      return page(
        'API keys',
        <>
          <KeyList keys={list} base={visit.base} mayChange={mayChange} />
          {byApi === null ? null : <ByApi byApi={byApi} visit={visit} />}
        </>,
        NAV,
      );
    }),
    post(
      '/keys/by-api',
      { ...setLiveKeysByApi.access, liveRecent: ({ base }) => `${base}/keys` },
      async (visit) => {
        const { accountId, mode, by, form, base } = visit;
        // Only live mode needs a recent sign-in.
        if (mode === 'live') {
          await setLiveKeysByApi.make(db, by, { accountId }, readFields(setLiveKeysByApi, form));
        }
        return redirect(`${base}/keys`);
      },
    ),
    ...merchantForm({
      path: '/keys/new',
      ...createKey.access,
      recent: 'live',
      values: ({ query }) => {
        const preset = SCOPE_PRESETS[query.get('preset') ?? ''] ?? [];
        return new URLSearchParams(preset.map((scope) => ['scopes', scope]));
      },
      show: (visit, form) => page('Create API key', <NewKey visit={visit} form={form} />, NAV),
      send: async (visit) => {
        const { accountId, mode, by, form } = visit;
        const input = readFields(createKey, form);
        const key = await createKey.make(db, by, { accountId, mode, pepper }, input);
        const path = pathOf(visit, key.id);
        return redirect(path, [once.keep(visit, path, key.secret)]);
      },
    }),
    get('/keys/:id', 'read', (visit) => showKey(visit, visit.id)),
    ...keyFormPages(db),
    post(
      '/keys/:id/rotate',
      { ...rotateKey.access, liveRecent: (visit) => pathOf(visit, visit.id) },
      async (visit) => {
        const { id } = await findOwnKey(db, visit, visit.id);
        const key = await rotateKey.make(db, visit.by, { id, pepper }, {});
        const path = pathOf(visit, key.id);
        return redirect(path, [once.keep(visit, path, key.secret)]);
      },
    ),
    post('/keys/:id/revoke', revokeKey.access, async (visit) => {
      const { id } = visit;
      const key = await findOwnKey(db, visit, id);
      if (visit.form.get('confirm')?.trim() !== key.lastFour) {
        return showKey(visit, id, { wrong: true });
      }
      await revokeKey.make(db, visit.by, { id: key.id }, {});
      return redirect(pathOf(visit, id));
    }),
  ];
}

interface KeyListProps {
  keys: Key[];
  base: string;
  mayChange: boolean;
}

function KeyList({ keys, base, mayChange }: KeyListProps) {
  const now = new Date();
  return (
    <>
      <PageHead title="API keys" lead="Your servers authenticate with them. Keep them secret.">
        {mayChange ? (
          <a class="btn" href={`${base}/keys/new`}>
            <Icon name="plus" /> Create key
          </a>
        ) : null}
      </PageHead>
      <Card flush>
        <Table
          caption="API keys"
          rows={keys}
          empty={
            <Empty icon="key-round" title="No API keys">
              <p>Create a key to call the API.</p>
            </Empty>
          }
          columns={[
            { label: 'Name', cell: ({ id, name }) => <a href={`${base}/keys/${id}`}>{name}</a> },
            {
              label: 'Key',
              cell: ({ displayPrefix, lastFour }) => (
                <code>
                  {displayPrefix}…{lastFour}
                </code>
              ),
            },
            { label: 'Status', cell: (key) => <Status value={apiKeyStatus(key, now)} /> },
            { label: 'Scopes', wide: true, cell: ({ scopes }) => scopesText(scopes) },
            {
              label: 'Last used',
              wide: true,
              cell: ({ lastUsedAt }) =>
                lastUsedAt === null ? <span class="muted">Never</span> : <Time at={lastUsedAt} />,
            },
          ]}
        />
      </Card>
    </>
  );
}

/** Whether live keys are made by API, and the form for those who may decide it. */
function ByApi({ byApi, visit }: { byApi: string; visit: MerchantVisit }) {
  const form = { values: new URLSearchParams({ byApi }), errors: {} };
  return (
    <Card
      title="Live keys by API"
      lead="An API key with the scope api_keys:write can create keys that have at most its own rights."
    >
      {visit.may('manage') ? (
        <form method="post" action={`${visit.base}/keys/by-api`} class="stack">
          <ChangeFields change={setLiveKeysByApi} form={form} />
          <FormActions submit="Save" cancel={`${visit.base}/keys`} />
        </form>
      ) : (
        <Facts
          rows={[['Live keys are created', byApi === 'yes' ? 'Also by API' : 'By people only']]}
        />
      )}
    </Card>
  );
}

function scopesText(scopes: readonly string[]): string {
  return scopes.length === SCOPES.length ? 'All' : scopes.join(', ');
}

function NewKey({ visit, form }: { visit: MerchantVisit; form: FormState }) {
  const path = `${visit.base}/keys`;
  return (
    <>
      <PageHead
        back={{ href: path, label: 'API keys' }}
        title="Create API key"
        lead={modeText(visit.mode)}
      />
      <nav class="tabs-links" aria-label="Scopes for a purpose">
        {Object.keys(SCOPE_PRESETS).map((preset) => (
          <a
            href={`${path}/new?${new URLSearchParams({ preset }).toString()}`}
            aria-current={visit.query.get('preset') === preset ? 'true' : undefined}
          >
            {preset}
          </a>
        ))}
      </nav>
      <Card>
        <form method="post" action={`${path}/new`} class="stack">
          <ChangeFields change={createKey} form={form} />
          <FormActions submit="Create key" cancel={path} />
        </form>
      </Card>
    </>
  );
}

function modeText(mode: Mode): string {
  return mode === 'test'
    ? 'For test mode: no real money moves.'
    : 'For live mode: real money moves.';
}

interface KeyPageProps {
  apiKey: Key;
  path: string;
  base: string;
  secret: string | null;
  secondPerson: ComponentChildren;
  mayChange: boolean;
  /** Whether the confirmation did not match. */
  wrong: boolean;
}

function KeyPage(props: KeyPageProps) {
  const { apiKey: key, path, base, secret, mayChange, wrong } = props;
  const status = apiKeyStatus(key, new Date());
  // The name is the title, and the expiry stands with the other times.
  const { name: _name, expires: _expires, ...shown } = createKey.fields;
  return (
    <>
      <PageHead
        back={{ href: `${base}/keys`, label: 'API keys' }}
        here={key.name}
        title={
          <>
            {key.name} <Status value={status} />
          </>
        }
      />
      {secret === null ? null : (
        <Alert tone="good" title="Copy the key now. It is not shown again.">
          <Secret value={secret} label="Copy key" />
        </Alert>
      )}
      {props.secondPerson}
      <Card title="Details">
        <Facts
          rows={[
            ['ID', <Id value={key.id} />],
            ['Key', <code>{`${key.displayPrefix}…${key.lastFour}`}</code>],
            ...rowsOf({ fields: shown }, fieldsOf(key)),
            [
              'Made by',
              key.createdByKey === null ? (
                'A person'
              ) : (
                <a href={`${base}/keys/${key.createdByKey}`}>{key.createdByKey}</a>
              ),
            ],
            ['Created', <Time at={key.createdAt} seconds />],
            ['Expires', key.expiresAt === null ? 'Never' : <Time at={key.expiresAt} seconds />],
            ['Revoked', key.revokedAt === null ? null : <Time at={key.revokedAt} seconds />],
            ['Last used', key.lastUsedAt === null ? 'Never' : <Time at={key.lastUsedAt} seconds />],
            ['Last address', key.lastUsedAddress],
          ]}
        />
      </Card>
      {status === 'working' && mayChange ? (
        <Changes apiKey={key} path={path} wrong={wrong} />
      ) : null}
    </>
  );
}

function Changes({ apiKey: key, path, wrong }: Pick<KeyPageProps, 'apiKey' | 'path' | 'wrong'>) {
  const errors: Record<string, string> = wrong
    ? { confirm: `Enter ${key.lastFour}, the last four characters of the key.` }
    : {};
  return (
    <div class="grid">
      <Card
        title="Settings"
        lead="Name, scopes, allowed addresses, requests per minute and expiry."
      >
        <div>
          <a class="btn" data-variant="outline" href={`${path}/edit`}>
            <Icon name="pencil" /> Edit key
          </a>
        </div>
      </Card>
      <Card title="Rules for payouts" lead="Recipients, currencies and amounts.">
        <div>
          <a class="btn" data-variant="outline" href={`${path}/limits`}>
            <Icon name="pencil" /> Change rules
          </a>
        </div>
      </Card>
      <Card
        title="Rotate"
        lead="A new secret with the same settings. The old secret stops working at once. Keys that were created with this key keep working."
      >
        <div>
          <Confirm
            action={`${path}/rotate`}
            label="Rotate key"
            icon="refresh-cw"
            effect="Requests with the old secret get 401 from now on."
            confirm="Rotate this key now"
          />
        </div>
      </Card>
      <Card
        title="Revoke"
        lead="The key and the keys that were created with it stop working at once, permanently."
      >
        <form method="post" action={`${path}/revoke`} class="stack">
          <Field
            name="confirm"
            label={`Enter the last four characters, ${key.lastFour}, to confirm`}
            form={{ ...EMPTY_FORM, errors }}
            required
            autocomplete="off"
            maxLength={4}
          />
          <div>
            <button class="btn" data-variant="destructive">
              Revoke key
            </button>
          </div>
        </form>
      </Card>
    </div>
  );
}
