/** Webhook endpoints: list, create, edit, roll, enable, test, delete. */
import { isId } from '../../../domain/ids';
import { WEBHOOK_DELIVERY_STATUSES } from '../../../domain/webhook-delivery';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { listOwnDeliveries } from '../webhook-deliveries';
import {
  type AttemptCounts,
  countOwnAttempts,
  countOwnRecentAttempts,
  createEndpoint,
  type DeliveryWarning,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointCounts,
  findOwnEndpoint,
  listOwnEndpoints,
  listOwnWarnings,
  pingEndpoint,
  rollSecret,
  type WebhookEndpoint,
} from '../webhook-endpoints';
import { SIGNATURE_NAMES } from '../webhook-endpoints';
import { recoverWebhookDeliveries, replayMissing } from '../webhook-recovery';
import { readFields } from '../../../kit/pages/change-form';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  PageHead,
  Pager,
  Secret,
  Status,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import { Action, Confirm, FormActions, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import type { Once } from '../../../kit/pages/once';
import { page, redirect } from '../../../kit/pages/site';
import { chosen } from '../../../kit/pages/lists';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { DeliveryTable } from './deliveries';
import { editPages, EndpointFields } from './edit';
import { DeliveryWarnings } from './warnings';
import {
  EndpointHealth,
  HealthText,
  RecoveredAlert,
  recoveredQuery,
  RecoveryForms,
  sinceOf,
} from './health';

type Delivery = Awaited<ReturnType<typeof listOwnDeliveries>>[number];

const NAV = { nav: 'webhooks' };
const DELIVERIES_SHOWN = 50;

export function endpointPages(services: DashboardServices, once: Once): MerchantRoute[] {
  const { db, webhookTools } = services;
  const pathOf = ({ base }: MerchantVisit, id: string) => `${base}/webhooks/${id}`;
  const own = (visit: MerchantVisit) => pathOf(visit, visit.id);
  const find = (visit: MerchantVisit) => findOwnEndpoint(db, visit, visit.id);
  const toolsOf = async (visit: MerchantVisit) => ({ ...webhookTools, id: (await find(visit)).id });
  const mayChange = (visit: MerchantVisit) =>
    visit.may(visit.mode === 'live' ? 'manage' : 'integrate');

  return [
    get('/webhooks', 'read', async (visit) => {
      const [list, recent] = await Promise.all([
        listOwnEndpoints(db, visit),
        countOwnRecentAttempts(db, visit),
      ]);
      const props = { rows: list, recent, base: visit.base, mayChange: mayChange(visit) };
      const body = <EndpointList {...props} />;
      return page('Webhooks', body, NAV);
    }),
    ...merchantForm({
      path: '/webhooks/new',
      ...createEndpoint.access,
      recent: 'live',
      show: ({ base }, form) => page('Add endpoint', <NewEndpoint base={base} form={form} />, NAV),
      send: async (visit) => {
        const { accountId, mode, by, form } = visit;
        const subject = { ...webhookTools, accountId, mode };
        const endpoint = await createEndpoint.make(
          db,
          by,
          subject,
          readFields(createEndpoint, form),
        );
        const path = pathOf(visit, endpoint.id);
        return redirect(path, [once.keep(visit, path, endpoint.secret)]);
      },
    }),
    get('/webhooks/:id', 'read', async (visit) => {
      const endpoint = await find(visit);
      const { id } = endpoint;
      const status = chosen(visit.query, 'status', WEBHOOK_DELIVERY_STATUSES);
      const after = visit.query.get('after') ?? '';
      const before = isId('webhookDelivery', after) ? after : null;
      const [deliveries, counts, warnings] = await Promise.all([
        listOwnDeliveries(db, visit, id, status, DELIVERIES_SHOWN + 1, before),
        countOwnAttempts(db, visit, id),
        listOwnWarnings(db, visit),
      ]);
      const taken = once.take(visit);
      const body = (
        <EndpointPage
          endpoint={endpoint}
          deliveries={deliveries}
          counts={counts}
          warnings={warnings.filter((one) => one.endpointId === id)}
          query={visit.query}
          status={status}
          base={visit.base}
          secret={taken?.secret ?? null}
          mayChange={mayChange(visit)}
          mayRetry={visit.may('resend')}
        />
      );
      const cookies = taken === null ? [] : [taken.cookie];
      return page(endpoint.url, body, { ...NAV, cookies });
    }),
    post('/webhooks/:id/ping', { cost: 'delivery', needs: 'resend' }, async (visit) => {
      const ping = await pingEndpoint(db, visit.by, await toolsOf(visit));
      return redirect(`${visit.base}/webhooks/deliveries/${ping.deliveryId}`);
    }),
    ...Object.entries({ recover: recoverWebhookDeliveries, replay: replayMissing }).map(
      ([verb, recover]): MerchantRoute =>
        post(`/webhooks/:id/${verb}`, { cost: 'delivery', needs: 'resend' }, async (visit) => {
          const range = { endpointId: (await find(visit)).id, since: sinceOf(visit.form) };
          const { webhookDeliveryWorkflows } = webhookTools;
          const recovered = await recover(db, visit.by, webhookDeliveryWorkflows, range);
          return redirect(own(visit) + recoveredQuery(recovered));
        }),
    ),
    ...editPages(services),
    post('/webhooks/:id/roll', { ...rollSecret.access, liveRecent: own }, async (visit) => {
      const { secret } = await rollSecret.make(db, visit.by, await toolsOf(visit), {});
      return redirect(own(visit), [once.keep(visit, own(visit), secret)]);
    }),
    ...Object.entries({
      enable: enableEndpoint,
      disable: disableEndpoint,
      delete: deleteEndpoint,
    }).map(([verb, change]): MerchantRoute =>
      post(`/webhooks/:id/${verb}`, { ...change.access, liveRecent: own }, async (visit) => {
        await change.make(db, visit.by, await toolsOf(visit), {});
        return redirect(verb === 'delete' ? `${visit.base}/webhooks` : own(visit));
      }),
    ),
  ];
}

interface EndpointListProps {
  rows: WebhookEndpoint[];
  recent: EndpointCounts[];
  base: string;
  mayChange: boolean;
}

function EndpointList({ rows, recent, base, mayChange }: EndpointListProps) {
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
            {
              label: 'Health',
              cell: ({ id, enabled }) =>
                enabled ? (
                  <HealthText counts={recent.find(({ endpointId }) => endpointId === id)} />
                ) : null,
            },
            { label: 'Events', wide: true, cell: ({ events }) => events?.length ?? 'All' },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Card>
    </>
  );
}

function stateOf({ deletedAt, enabled }: WebhookEndpoint): string {
  if (deletedAt !== null) return 'deleted';
  return enabled ? 'enabled' : 'disabled';
}

interface NewEndpointProps {
  base: string;
  form: FormState;
}

function NewEndpoint({ base, form }: NewEndpointProps) {
  const path = `${base}/webhooks`;
  return (
    <>
      <PageHead back={{ href: path, label: 'Webhooks' }} title="Add endpoint" />
      <Card>
        <form method="post" action={`${path}/new`} class="stack">
          <EndpointFields form={form} />
          <FormActions submit="Add endpoint" cancel={path} />
        </form>
      </Card>
    </>
  );
}

interface EndpointPageProps {
  endpoint: WebhookEndpoint;
  /** One more than are shown, if there is a next page. */
  deliveries: Delivery[];
  counts: AttemptCounts[];
  warnings: DeliveryWarning[];
  query: URLSearchParams;
  status: string | undefined;
  base: string;
  secret: string | null;
  mayChange: boolean;
  mayRetry: boolean;
}

function EndpointPage(props: EndpointPageProps) {
  const { endpoint, deliveries, counts, query, status, base, secret, mayChange, mayRetry } = props;
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
        {deletedAt === null && mayRetry ? (
          <>
            <a class="btn" data-variant="outline" href={`${path}/test`}>
              Edit test event
            </a>
            <Action action={`${path}/ping`} label="Send test event" icon="send" />
          </>
        ) : null}
      </PageHead>
      <RecoveredAlert query={query} />
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
      <DeliveryWarnings warnings={props.warnings} base={base} />
      <EndpointHealth counts={counts} />
      <Card title="Details">
        <Facts
          rows={[
            ['ID', <Id value={endpoint.id} />],
            ['Events', endpoint.events?.join(', ') ?? 'All'],
            ['Signature headers', SIGNATURE_NAMES[endpoint.signature]],
            ['Created', <Time at={endpoint.createdAt} seconds />],
            ['Updated', <Time at={endpoint.updatedAt} seconds />],
            ['Deleted', deletedAt === null ? null : <Time at={deletedAt} seconds />],
          ]}
        />
        {deletedAt === null && mayChange ? <Changes path={path} enabled={enabled} /> : null}
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
        <DeliveryTable rows={deliveries.slice(0, DELIVERIES_SHOWN)} base={base} />
      </Card>
      <Pager
        first={query.has('after') ? pageLink(path, status, null) : null}
        next={
          deliveries.length > DELIVERIES_SHOWN
            ? pageLink(path, status, deliveries[DELIVERIES_SHOWN - 1]?.id ?? null)
            : null
        }
      />
      {deletedAt === null && enabled && mayRetry ? <RecoveryForms path={path} /> : null}
    </>
  );
}

function Changes({ path, enabled }: { path: string; enabled: boolean }) {
  return (
    <div class="actions">
      <a class="btn" data-variant="outline" href={`${path}/edit`}>
        <Icon name="pencil" /> Edit
      </a>
      <Confirm
        action={`${path}/roll`}
        label="Roll secret"
        icon="refresh-cw"
        effect="The endpoint gets a new signing secret. The old one is no longer used."
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
  );
}

function pageLink(path: string, status: string | undefined, after: string | null): string {
  const query = new URLSearchParams({
    ...(status === undefined ? {} : { status }),
    ...(after === null ? {} : { after }),
  }).toString();
  return query === '' ? path : `${path}?${query}`;
}
