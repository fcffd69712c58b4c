/** The health of an endpoint: the attempts of 24 hours, and what helps when they fail. */
import type { AttemptCounts, EndpointCounts } from '../webhook-endpoints';
import type { recoverWebhookDeliveries, replayMissing } from '../webhook-recovery';
import { Alert, Card, Status } from '../../../kit/pages/components';
import { EMPTY_FORM, Select } from '../../../kit/pages/forms';
import { Bars } from '../../../kit/pages/chart';
import { wallClockMs } from '../../../platform/lib/wall-clock';

const HOURS = 24;
/** From this many attempts on, more failures than successes are shown as a warning. */
const ATTEMPTS_TO_WARN = 3;

/** Whether every attempt failed, or more failed than succeeded and not just of the first few. */
function isFailing({ succeeded, failed }: { succeeded: number; failed: number }): boolean {
  return failed > succeeded && (succeeded === 0 || succeeded + failed >= ATTEMPTS_TO_WARN);
}

/** In the list; undefined if nothing was sent lately. */
export function HealthText({ counts }: { counts: EndpointCounts | undefined }) {
  if (counts === undefined) return <span class="muted">No attempts in 24 hours</span>;
  const { succeeded, failed } = counts;
  const attempts = succeeded + failed;
  return (
    <>
      <Status value={isFailing(counts) ? 'failing' : failed === 0 ? 'healthy' : 'some_failed'} />
      <small>
        {failed} of {attempts === 1 ? '1 attempt' : `${attempts} recent attempts`} failed
      </small>
    </>
  );
}

/** The failing endpoints on the home page. */
export function FailingEndpoints({ recent, base }: { recent: EndpointCounts[]; base: string }) {
  return recent.filter(isFailing).map(({ endpointId, url, succeeded, failed }) => (
    <Alert tone="bad" title="A webhook endpoint is failing">
      <p>
        <a class="break" href={`${base}/webhooks/${endpointId}`}>
          {url}
        </a>{' '}
        failed {failed} of {succeeded + failed} recent attempts. Your server misses events.
      </p>
    </Alert>
  ));
}

export function EndpointHealth({ counts }: { counts: readonly AttemptCounts[] }) {
  const all = counts.find(({ hoursAgo }) => hoursAgo === null);
  if (all === undefined || all.succeeded + all.failed === 0) return null;
  const hours = Array.from({ length: HOURS }, (_, n) => HOURS - 1 - n).map((hoursAgo) => {
    const { succeeded = 0, failed = 0 } = counts.find((one) => one.hoursAgo === hoursAgo) ?? {};
    return { hoursAgo, succeeded, failed };
  });
  const highest = Math.max(...hours.map(({ succeeded, failed }) => succeeded + failed), 1);
  const summary = `${all.succeeded} succeeded, ${all.failed} failed`;
  const times =
    all.p50Ms === null || all.p95Ms === null ? '' : ` · p50 ${all.p50Ms} ms · p95 ${all.p95Ms} ms`;
  return (
    <>
      {isFailing(all) ? (
        <Alert tone="bad" title="This endpoint is failing">
          <p>
            {all.failed} of {all.succeeded + all.failed} attempts of the last 24 hours failed. Open
            a failed delivery to see the response of your server, then recover what failed.
          </p>
        </Alert>
      ) : null}
      <Card title="Attempts in the last 24 hours" lead={summary + times}>
        <Bars
          label={`Attempts by hour: ${summary}`}
          axes={{
            highest: `${highest} attempts in the busiest hour`,
            first: `${hours[0]?.hoursAgo ?? 0} h ago`,
            last: 'Now',
          }}
          bars={hours.map(({ hoursAgo, succeeded, failed }) => ({
            title: `${hoursAgo} h ago: ${succeeded} succeeded, ${failed} failed`,
            parts: [
              { tone: 'good', share: succeeded / highest },
              { tone: 'bad', share: failed / highest },
            ],
          }))}
        />
      </Card>
    </>
  );
}

const SINCE = [
  ['1', 'The last hour'],
  ['6', 'The last 6 hours'],
  ['24', 'The last 24 hours'],
  ['72', 'The last 3 days'],
  ['168', 'The last 7 days'],
  ['696', 'The last 29 days'],
] as const;

/** The chosen time; without a choice, the last day. */
export function sinceOf(form: URLSearchParams): Date {
  const [hours] = SINCE.find(([value]) => value === form.get('since')) ?? ['24'];
  return new Date(wallClockMs() - Number.parseInt(hours, 10) * 60 * 60 * 1000);
}

export function RecoveryForms({ path }: { path: string }) {
  return (
    <div class="grid">
      <RecoveryForm
        action={`${path}/recover`}
        title="Resend failed"
        lead="Resends failed deliveries and resumes those that were skipped."
        button="Resend failed since"
      />
      <RecoveryForm
        action={`${path}/replay`}
        title="Replay missing"
        lead="Sends events that this endpoint never received, such as those before it existed."
        button="Replay missing since"
      />
    </div>
  );
}

interface RecoveryFormProps {
  action: string;
  title: string;
  lead: string;
  button: string;
}

function RecoveryForm({ action, title, lead, button }: RecoveryFormProps) {
  return (
    <Card title={title} lead={lead}>
      <form method="post" action={action} class="stack">
        <Select
          name="since"
          id={`since-${action.split('/').at(-1) ?? ''}`}
          label={`${title} since`}
          form={EMPTY_FORM}
          options={SINCE}
        />
        <div>
          <button class="btn" data-variant="outline">
            {button}
          </button>
        </div>
      </form>
    </Card>
  );
}

type Recovered = Awaited<ReturnType<typeof recoverWebhookDeliveries | typeof replayMissing>>;

export function recoveredQuery(recovered: Recovered): string {
  const done = 'created' in recovered ? recovered.created : recovered.retried + recovered.resumed;
  return `?recovered=${done}&left=${recovered.left}`;
}

function recoveredText(done: string): string {
  if (done === '0') return 'There was nothing to send again.';
  return `${done === '1' ? '1 delivery was' : `${done} deliveries were`} queued to be sent.`;
}

export function RecoveredAlert({ query }: { query: URLSearchParams }) {
  const count = (name: string) => /^\d{1,9}$/.exec(query.get(name) ?? '')?.[0];
  const [done, left = '0'] = [count('recovered'), count('left')];
  if (done === undefined) return null;
  return (
    <Alert tone={left === '0' ? 'note' : 'wait'} title={recoveredText(done)}>
      {left === '0' ? null : (
        <p>{left} more are above the maximum of open deliveries. Run it again later.</p>
      )}
    </Alert>
  );
}
