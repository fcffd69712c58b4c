/** Change an endpoint, and send it a test event with data of one's own. */
import { SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { JSON_DEPTH_MAX, outlineJson } from '../../lib/json-outline';
import type { DashboardServices } from '../../services/dashboard';
import { Card, PageHead } from '../../web/components';
import {
  Choices,
  draftForm,
  EMPTY_FORM,
  Field,
  fieldErrors,
  FormActions,
  type FormState,
  Select,
  TextArea,
} from '../../web/forms';
import { page, redirect } from '../../web/site';
import type { MerchantRoute, MerchantVisit } from '../merchant-page';
import { EventSamples, sampleData } from './samples';

type Webhooks = DashboardServices['webhooks'];
type Endpoint = Awaited<ReturnType<Webhooks['endpoint']>>;

const NAV = { nav: 'webhooks' };
const CHANGE = { needs: 'integrate', liveNeeds: 'manage' } as const;

export function settingsOf({ form }: MerchantVisit) {
  return {
    url: (form.get('url') ?? '').trim(),
    events: form.get('all') === 'yes' ? ['all'] : form.getAll('events'),
    description: (form.get('description') ?? '').trim() || null,
  };
}

/** All events and single ones contradict each other: nothing is saved until the person decides. */
export async function saveEndpoint<Result>(visit: MerchantVisit, change: () => Promise<Result>) {
  const { form } = visit;
  if (form.get('all') !== 'yes' || form.getAll('events').length === 0) return fieldErrors(change);
  const events = 'Untick “All events”, or untick the single events.';
  return { answer: null, fields: { events } };
}

export function editPages({ webhooks }: DashboardServices): MerchantRoute[] {
  const idOf = (visit: MerchantVisit) => visit.params['id'] ?? '';
  const pathOf = (visit: MerchantVisit) => `${visit.base}/webhooks/${idOf(visit)}`;
  const showEdit = async (visit: MerchantVisit, form: FormState | null) => {
    const endpoint = await webhooks.endpoint(visit, idOf(visit));
    const shown = form ?? { values: valuesOf(endpoint), errors: {} };
    const body = <Edit path={pathOf(visit)} form={shown} />;
    return page('Edit endpoint', body, {
      ...NAV,
      status: Object.keys(shown.errors).length === 0 ? 200 : 422,
    });
  };
  const showTest = async (visit: MerchantVisit, error: string | null) => {
    const endpoint = await webhooks.endpoint(visit, idOf(visit));
    const values = error === null ? visit.query : visit.form;
    const errors: Record<string, string> = error === null ? {} : { data: error };
    const body = <Test path={pathOf(visit)} url={endpoint.url} form={{ values, errors }} />;
    return page('Send test event', body, { ...NAV, status: error === null ? 200 : 422 });
  };

  return [
    {
      method: 'get',
      path: '/webhooks/:id/edit',
      ...CHANGE,
      run: (visit) => showEdit(visit, visit.draft === null ? null : draftForm(visit)),
    },
    {
      method: 'post',
      path: '/webhooks/:id/edit',
      ...CHANGE,
      liveRecent: (visit) => `${pathOf(visit)}/edit`,
      run: async (visit) => {
        const { answer, fields } = await saveEndpoint(visit, async () => {
          const before = await webhooks.edit(visit, visit.by, idOf(visit), settingsOf(visit));
          const enabled = visit.form.get('enabled') === 'yes';
          if (before.enabled !== enabled) {
            await webhooks.enable(visit, visit.by, before.id, enabled);
          }
          return redirect(pathOf(visit));
        });
        return answer ?? showEdit(visit, { values: visit.form, errors: fields });
      },
    },
    {
      method: 'get',
      path: '/webhooks/:id/test',
      needs: 'integrate',
      run: (visit) => showTest(visit, null),
    },
    {
      method: 'post',
      path: '/webhooks/:id/test',
      cost: 'delivery',
      needs: 'integrate',
      run: async (visit) => {
        const data = objectOf(visit.form.get('data') ?? '');
        if (data === null)
          return showTest(visit, `Enter a JSON object of at most ${JSON_DEPTH_MAX} levels.`);
        const ping = await webhooks.ping(visit, visit.by, idOf(visit), data);
        return redirect(`${visit.base}/webhooks/deliveries/${ping.deliveryId}`);
      },
    },
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

function valuesOf({ url, description, events, enabled }: Endpoint): URLSearchParams {
  return new URLSearchParams([
    ['url', url],
    ['description', description ?? ''],
    ...(events === null
      ? [['all', 'yes'] as [string, string]]
      : events.map((type): [string, string] => ['events', type])),
    ...(enabled ? [['enabled', 'yes'] as [string, string]] : []),
  ]);
}

export function EndpointFields({ form }: { form: FormState }) {
  return (
    <>
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
      <Field name="description" label="Description" hint="Optional." form={form} maxLength={100} />
      <Choices
        name="all"
        label="All events"
        form={form}
        preset={['yes']}
        options={[['yes', 'All events, including future ones']]}
      />
      <Choices
        name="events"
        label="Or these events"
        form={form}
        options={SUBSCRIBABLE_EVENTS.map((event) => [event, event] as const)}
      />
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
