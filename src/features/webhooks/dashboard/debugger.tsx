/** The signature debugger: why does this webhook not verify? */
import type { DashboardServices } from '../../../shell/dashboard/services';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, type FormState, TextArea } from '../../../kit/pages/forms';
import { page } from '../../../kit/pages/site';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';

type Finding = Awaited<ReturnType<DashboardServices['explainSignature']>>;

const NAV = { nav: 'webhooks' };
const PATH = '/webhooks/debugger';

export function debuggerPages({ explainSignature }: DashboardServices): MerchantRoute[] {
  const show = ({ base }: MerchantVisit, form: FormState, finding: Finding | null) =>
    page('Signature debugger', <Debugger base={base} form={form} finding={finding} />, NAV);

  return [
    get(PATH, 'read', (visit) => show(visit, EMPTY_FORM, null)),
    post(PATH, 'read', async (visit) => {
      const { form } = visit;
      const text = (name: string) => form.get(name) ?? '';
      const secret = text('secret');
      if (secret.trim() === '') {
        const errors = { secret: 'Enter the signing secret of the endpoint.' };
        return show(visit, { values: form, errors }, null);
      }
      const finding = await explainSignature(visit, {
        signature: text('signature').trim(),
        eventId: text('event_id').trim(),
        // A form sends every line break as CRLF.
        body: text('body').replaceAll('\r\n', '\n'),
        secret,
      });
      return show(visit, { values: form, errors: {} }, finding);
    }),
  ];
}

interface DebuggerProps {
  base: string;
  form: FormState;
  finding: Finding | null;
}

function Debugger({ base, form, finding }: DebuggerProps) {
  return (
    <>
      <PageHead
        back={{ href: `${base}/webhooks`, label: 'Webhooks' }}
        title="Signature debugger"
        lead="Paste a webhook as your server received it. Nothing is stored or logged."
      />
      {finding === null ? null : <Verdict finding={finding} />}
      <Card>
        <form method="post" action={base + PATH} class="stack">
          <Field
            name="signature"
            label="X-Gateway-Signature"
            placeholder="t=1700000000,v1=…"
            form={form}
            required
            autocomplete="off"
          />
          <Field
            name="event_id"
            label="X-Gateway-Event-Id"
            hint="Optional. Without it, the ID in the body is used."
            placeholder="evt_…"
            form={form}
            autocomplete="off"
          />
          <TextArea
            name="body"
            label="Raw body"
            hint="The raw bytes, before any JSON parser."
            form={form}
            required
          />
          <Field
            name="secret"
            label="Signing secret"
            hint="Begins with whsec_. It is used once and not shown again."
            type="password"
            form={form}
            required
            autocomplete="off"
          />
          <div class="actions">
            <button class="btn">Check signature</button>
          </div>
        </form>
      </Card>
    </>
  );
}

function Verdict({ finding }: { finding: Finding }) {
  if (finding.kind === 'valid') {
    return <Alert tone="good" title="The signature is valid." />;
  }
  const [title, remedy] = explanation(finding);
  return (
    <Alert tone="bad" title={title}>
      <p>{remedy}</p>
    </Alert>
  );
}

function explanation(finding: Exclude<Finding, { kind: 'valid' }>): [string, string] {
  switch (finding.kind) {
    case 'format':
      return ['The header has the wrong format', finding.message];
    case 'timestamp':
      return ['The signature is right, but the timestamp is not', finding.message];
    case 'event_id':
      return ['The signature is right, but the event ID is not', finding.message];
    case 'body_not_an_event':
      return ['The signature is right, but the body is not an event', finding.message];
    case 'wrong_secret':
      return [
        'The secret is wrong',
        'The body is the one that was sent. Use the secret of the endpoint that received it; after a roll, only the new secret is valid.',
      ];
    case 'secret_has_spaces':
      return ['The secret has spaces around it', 'Remove them where your server reads the secret.'];
    case 'secret_without_prefix':
      return ['The secret lacks its prefix', 'Use the whole secret, including whsec_.'];
    case 'line_break_added':
      return [
        'The body has spaces or line breaks around it',
        'Verify the bytes as received, without adding or removing any.',
      ];
    case 'body_changed':
      return [
        `The body was changed: byte ${finding.at} is the first that differs`,
        finding.isSameJson
          ? 'The JSON is the same, but it was parsed and written again. Verify the raw body before any JSON parser.'
          : 'The secret is right. Check what changes the body between the gateway and your server.',
      ];
    case 'secret_or_body':
      return [
        'No signature matches',
        'The secret is wrong or the body was changed. The event does not belong to this account and mode, so the bodies cannot be compared.',
      ];
  }
}
