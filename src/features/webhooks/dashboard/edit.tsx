/** Change an endpoint, and send it a test event with data of one's own. */
import { SUBSCRIBABLE_EVENTS } from '../../../domain/events';
import { JSON_DEPTH_MAX, outlineJson } from '../../../platform/lib/json-outline';
import type { DashboardServices } from '../../../shell/dashboard/services';
import {
  createEndpoint,
  disableEndpoint,
  editEndpoint,
  enableEndpoint,
  findOwnEndpoint,
  pingEndpoint,
  type WebhookEndpoint,
} from '../webhook-endpoints';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import {
  Choices,
  EMPTY_FORM,
  FormActions,
  type FormState,
  Select,
  TextArea,
} from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import { mayMake } from '../../../kit/pages/creation';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { RealEvent, realEventPage, type RefusedEvent } from './real-event';
import { EventSamples, sampleData } from './samples';

const NAV = { nav: 'webhooks' };

export function editPages(services: DashboardServices): MerchantRoute[] {
  const { db, webhookTools } = services;
  const find = (visit: MerchantVisit) => findOwnEndpoint(db, visit, visit.id);
  const pathOf = (visit: MerchantVisit) => `${visit.base}/webhooks/${visit.id}`;
  const showTest = async (
    visit: MerchantVisit,
    error: string | null,
    refused: RefusedEvent | null = null,
  ) => {
    const { url } = await find(visit);
    const values = error === null ? visit.query : visit.form;
    const errors: Record<string, string> = error === null ? {} : { data: error };
    const isReal = visit.mode === 'test' && mayMake(visit);
    const body = (
      <>
        <Test path={pathOf(visit)} url={url} form={{ values, errors }} />
        {isReal ? <RealEvent path={pathOf(visit)} refused={refused} /> : null}
      </>
    );
    const status = error === null ? (refused?.refusal?.status ?? 200) : 422;
    return page('Send test event', body, { ...NAV, status });
  };

  return [
    ...merchantForm({
      path: '/webhooks/:id/edit',
      ...editEndpoint.access,
      recent: 'live',
      values: async (visit) => valuesOf(await find(visit)),
      show: (visit, form) => page('Edit endpoint', <Edit path={pathOf(visit)} form={form} />, NAV),
      send: async (visit) => {
        const { id } = await find(visit);
        const input = readFields(createEndpoint, visit.form);
        const wish = { ...input, description: input.description ?? '' };
        const before = await editEndpoint.make(db, visit.by, { ...webhookTools, id }, wish);
        const enabled = visit.form.get('enabled') === 'yes';
        const change = enabled ? enableEndpoint : disableEndpoint;
        if (before.enabled !== enabled) await change.make(db, visit.by, { id }, {});
        return redirect(pathOf(visit));
      },
    }),
    get('/webhooks/:id/test', 'resend', (visit) => showTest(visit, null)),
    post('/webhooks/:id/test', { cost: 'delivery', needs: 'resend' }, async (visit) => {
      const data = objectOf(visit.form.get('data') ?? '');
      if (data === null)
        return showTest(visit, `Enter a JSON object of at most ${JSON_DEPTH_MAX} levels.`);
      const { id } = await find(visit);
      const ping = await pingEndpoint(db, visit.by, { ...webhookTools, id }, data);
      return redirect(`${visit.base}/webhooks/deliveries/${ping.deliveryId}`);
    }),
    realEventPage(services, (visit, refused) => showTest(visit, null, refused)),
  ];
}

function objectOf(text: string): Record<string, unknown> | null {
  if (outlineJson(text).depth > JSON_DEPTH_MAX) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function valuesOf({
  url,
  description,
  events,
  signature,
  enabled,
}: WebhookEndpoint): URLSearchParams {
  return new URLSearchParams([
    ['url', url],
    ['description', description ?? ''],
    ['signature', signature],
    ...(events ?? ['all']).map((type): [string, string] => ['events', type]),
    ...(enabled ? [['enabled', 'yes'] as [string, string]] : []),
  ]);
}

export function EndpointFields({ form }: { form: FormState }) {
  return (
    <>
      <ChangeFields change={createEndpoint} form={form} />
      <EventSamples />
    </>
  );
}

interface EditProps {
  path: string;
  form: FormState;
}

function Edit({ path, form }: EditProps) {
  return (
    <>
      <PageHead back={{ href: path, label: 'Endpoint' }} title="Edit endpoint" />
      <Card>
        <form method="post" action={`${path}/edit`} class="stack">
          <EndpointFields form={form} />
          <Choices
            name="enabled"
            label="State"
            form={form}
            options={[['yes', 'Enabled: events are sent']]}
          />
          <FormActions submit="Save changes" cancel={path} />
        </form>
      </Card>
    </>
  );
}

function Test({ path, url, form }: { path: string; url: string; form: FormState }) {
  const sample =
    SUBSCRIBABLE_EVENTS.find((type) => type === form.values.get('sample')) ?? 'payment.completed';
  const options = SUBSCRIBABLE_EVENTS.map((type) => [type, type] as const);
  const picked = { ...EMPTY_FORM, values: new URLSearchParams({ sample }) };
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Endpoint' }}
        title="Send test event"
        lead={`To ${url}. The type is webhook.ping, so that nothing takes it for a real event.`}
      />
      <form class="filters" action={`${path}/test`}>
        <Select name="sample" label="Sample" form={picked} options={options} />
        <button class="btn" data-variant="outline">
          Use sample
        </button>
      </form>
      <Card>
        <form method="post" action={`${path}/test`} class="stack">
          <input type="hidden" name="sample" value={sample} />
          <TextArea name="data" label="data" form={form} value={sampleData(sample)} required />
          <div class="actions">
            <button class="btn">Send test event</button>
          </div>
        </form>
      </Card>
    </>
  );
}
