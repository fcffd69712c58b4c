/** Webhook endpoints: list, create, edit, roll, enable, test, delete. */
import { SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { WEBHOOK_DELIVERY_STATUSES } from '../../domain/webhook-delivery';
import type { DashboardServices } from '../../services/dashboard';
import {
  Action,
  Alert,
  Card,
  Choices,
  Confirm,
  EMPTY_FORM,
  Empty,
  Facts,
  Field,
  type FormState,
  Id,
  PageHead,
  Secret,
  Status,
  Table,
  Time,
  words,
} from '../../web/components';
import { Icon } from '../../web/icon';
import type { Once } from '../../web/once';
import { fieldErrors } from '../../web/refusals';
import { page, redirect } from '../../web/site';
import { chosen } from '../../web/lists';
import type { MerchantRoute, MerchantVisit } from '../merchant-page';
import { DeliveryTable } from './deliveries';

type Webhooks = DashboardServices['webhooks'];
type Endpoint = Awaited<ReturnType<Webhooks['endpoint']>>;
type Delivery = Awaited<ReturnType<Webhooks['delivery']>>;

const NAV = { nav: 'webhooks' };
const CHANGE = { needs: 'integrate', liveNeeds: 'manage' } as const;
const DELIVERIES_SHOWN = 50;

export function endpointPages({ webhooks }: DashboardServices, once: Once): MerchantRoute[] {
  const pathOf = ({ base }: MerchantVisit, id: string) => `${base}/webhooks/${id}`;
  const mayChange = (visit: MerchantVisit) =>
    visit.may(visit.mode === 'live' ? 'manage' : 'integrate');
  const settingsOf = ({ form }: MerchantVisit) => ({
    url: (form.get('url') ?? '').trim(),
    events: form.get('all') === 'yes' ? ['all'] : form.getAll('events'),
    description: (form.get('description') ?? '').trim() || null,
  });

  return [
    {
      method: 'get',
      path: '/webhooks',
      needs: 'read',
      run: async (visit) => {
        const list = await webhooks.endpoints(visit);
        const body = <EndpointList rows={list} base={visit.base} mayChange={mayChange(visit)} />;
        return page('Webhooks', body, NAV);
      },
    },
    {
      method: 'get',
      path: '/webhooks/new',
      ...CHANGE,
      run: ({ base }) => page('Add endpoint', <NewEndpoint base={base} form={EMPTY_FORM} />, NAV),
    },
    {
      method: 'post',
      path: '/webhooks/new',
      ...CHANGE,
      run: async (visit) => {
        const { answer, fields } = await fieldErrors(async () => {
          const endpoint = await webhooks.create(visit, visit.by, settingsOf(visit));
          const path = pathOf(visit, endpoint.id);
          return redirect(path, [once.keep(visit, path, endpoint.secret)]);
        });
        if (answer !== null) return answer;
        const form = { values: visit.form, errors: fields };
        const body = <NewEndpoint base={visit.base} form={form} />;
        return page('Add endpoint', body, { ...NAV, status: 422 });
      },
    },
    {
      method: 'get',
      path: '/webhooks/:id',
      needs: 'read',
      run: async (visit) => {
        const id = visit.params['id'] ?? '';
        const endpoint = await webhooks.endpoint(visit, id);
        const status = chosen(visit.query, 'status', WEBHOOK_DELIVERY_STATUSES);
        const deliveries = await webhooks.deliveries(visit, id, status, DELIVERIES_SHOWN);
        const taken = once.take(visit);
        const body = (
          <EndpointPage
            endpoint={endpoint}
            deliveries={deliveries}
            status={status}
            base={visit.base}
            secret={taken?.secret ?? null}
            mayChange={mayChange(visit)}
          />
        );
        const cookies = taken === null ? [] : [taken.cookie];
        return page(endpoint.url, body, { ...NAV, cookies });
      },
    },
    {
      method: 'post',
      path: '/webhooks/:id/ping',
      needs: 'integrate',
      run: async (visit) => {
        const ping = await webhooks.ping(visit, visit.by, visit.params['id'] ?? '');
        return redirect(`${visit.base}/webhooks/deliveries/${ping.deliveryId}`);
      },
    },
    {
      method: 'post',
      path: '/webhooks/:id/roll',
      ...CHANGE,
      run: async (visit) => {
        const endpoint = await webhooks.roll(visit, visit.by, visit.params['id'] ?? '');
        const path = pathOf(visit, endpoint.id);
        return redirect(path, [once.keep(visit, path, endpoint.secret)]);
      },
    },
    ...(['enable', 'disable'] as const).map((verb): MerchantRoute => ({
      method: 'post',
      path: `/webhooks/:id/${verb}`,
      ...CHANGE,
      run: async (visit) => {
        const id = visit.params['id'] ?? '';
        await webhooks.enable(visit, visit.by, id, verb === 'enable');
        return redirect(pathOf(visit, id));
      },
    })),
    {
      method: 'post',
      path: '/webhooks/:id/delete',
      ...CHANGE,
      run: async (visit) => {
        await webhooks.remove(visit, visit.by, visit.params['id'] ?? '');
        return redirect(`${visit.base}/webhooks`);
      },
    },
  ];
}

interface EndpointListProps {
  rows: Endpoint[];
  base: string;
  mayChange: boolean;
}

function EndpointList({ rows, base, mayChange }: EndpointListProps) {
  return (
    <>
      <PageHead title="Webhooks" lead="The gateway sends every status change to your endpoints.">
        <a class="btn" data-variant="outline" href={`${base}/webhooks/debugger`}>
          Signature debugger
        </a>
        {mayChange ? (
          <a class="btn" href={`${base}/webhooks/new`}>
            <Icon name="plus" /> Add endpoint
          </a>
        ) : null}
      </PageHead>
      <Card flush>
        <Table
          caption="Webhook endpoints"
          rows={rows}
          empty={
            <Empty icon="webhook" title="No endpoints">
              <p>Add the URL of your server that receives events.</p>
            </Empty>
          }
          columns={[
            {
              label: 'URL',
              cell: ({ id, url, description }) => (
                <>
                  <a href={`${base}/webhooks/${id}`}>{url}</a>
                  {description === null ? null : <small>{description}</small>}
                </>
              ),
            },
            { label: 'Status', cell: (endpoint) => <Status value={stateOf(endpoint)} /> },
            { label: 'Events', wide: true, cell: ({ events }) => events?.length ?? 'All' },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Card>
    </>
  );
}

function stateOf({ deletedAt, enabled }: Endpoint): string {
  if (deletedAt !== null) return 'deleted';
  return enabled ? 'enabled' : 'disabled';
}

function NewEndpoint({ base, form }: { base: string; form: FormState }) {
  const path = `${base}/webhooks`;
  return (
    <>
      <PageHead back={{ href: path, label: 'Webhooks' }} title="Add endpoint" />
      <Card>
        <form method="post" action={`${path}/new`} class="stack">
          <Field
            name="url"
            label="URL"
            type="url"
            hint="HTTPS on a public address."
            placeholder="https://shop.example.com/webhooks"
            form={form}
            required
            maxLength={2048}
          />
          <Field
            name="description"
            label="Description"
            hint="Optional."
            form={form}
            maxLength={100}
          />
          <Choices
            name="all"
            label="All events"
            form={form}
            preset={['yes']}
            options={[['yes', 'Every event, also future ones']]}
          />
          <Choices
            name="events"
            label="Or these events"
            form={form}
            options={SUBSCRIBABLE_EVENTS.map((event) => [event, event] as const)}
          />
          <div class="actions">
            <button class="btn">Add endpoint</button>
            <a class="btn" data-variant="ghost" href={path}>
              Cancel
            </a>
          </div>
        </form>
      </Card>
    </>
  );
}

interface EndpointPageProps {
  endpoint: Endpoint;
  deliveries: Delivery[];
  status: string | undefined;
  base: string;
  secret: string | null;
  mayChange: boolean;
}

function EndpointPage({
  endpoint,
  deliveries,
  status,
  base,
  secret,
  mayChange,
}: EndpointPageProps) {
  const path = `${base}/webhooks/${endpoint.id}`;
  const { enabled, deletedAt, timeoutsInARow } = endpoint;
  return (
    <>
      <PageHead
        back={{ href: `${base}/webhooks`, label: 'Webhooks' }}
        title={endpoint.url}
        lead={
          <>
            <Status value={stateOf(endpoint)} /> {endpoint.description}
          </>
        }
      >
        {deletedAt === null && mayChange ? (
          <Action action={`${path}/ping`} label="Send test event" icon="send" />
        ) : null}
      </PageHead>
      {secret === null ? null : (
        <Alert tone="good" title="Copy the signing secret now. It is not shown again.">
          <Secret value={secret} label="Copy secret" />
        </Alert>
      )}
      {timeoutsInARow > 0 ? (
        <Alert tone="bad" title={`The last ${timeoutsInARow} attempts timed out`}>
          <p>Answer with 2xx at once and process the event afterwards.</p>
        </Alert>
      ) : null}
      <Card title="Details">
        <Facts
          rows={[
            ['Id', <Id value={endpoint.id} />],
            ['Events', endpoint.events?.join(', ') ?? 'All'],
            ['Created', <Time at={endpoint.createdAt} seconds />],
            ['Updated', <Time at={endpoint.updatedAt} seconds />],
            ['Deleted', deletedAt === null ? null : <Time at={deletedAt} seconds />],
          ]}
        />
        {deletedAt === null && mayChange ? (
          <div class="actions">
            <Confirm
              action={`${path}/roll`}
              label="Roll secret"
              icon="refresh-cw"
              effect="The endpoint gets a new signing secret. Nothing is signed with the old one any more."
              confirm="Roll the secret now"
            />
            {enabled ? (
              <Action action={`${path}/disable`} label="Disable" icon="pause" />
            ) : (
              <Action action={`${path}/enable`} label="Enable" icon="play" />
            )}
            <Confirm
              action={`${path}/delete`}
              label="Delete"
              icon="trash-2"
              effect="The endpoint gets no more events, and its open deliveries end. This cannot be undone."
              confirm="Delete this endpoint"
            />
          </div>
        ) : null}
      </Card>
      <nav class="tabs-links" aria-label="Deliveries by status">
        {[undefined, ...WEBHOOK_DELIVERY_STATUSES].map((one) => (
          <a
            href={one === undefined ? path : `${path}?status=${one}`}
            aria-current={one === status ? 'page' : undefined}
          >
            {one === undefined ? 'All deliveries' : words(one)}
          </a>
        ))}
      </nav>
      <Card flush>
        <DeliveryTable rows={deliveries} base={base} />
      </Card>
    </>
  );
}
