/** One attempt at a webhook delivery: the request, the answer, and the same request as a curl command. */
import type { readOwnDelivery } from '../webhook-deliveries';
import { Card, CopyButton, Facts, Status, Time, words } from '../../../kit/pages/components';

export type Attempt = Awaited<ReturnType<typeof readOwnDelivery>>['attempts'][number];

interface AttemptCardProps {
  attempt: Attempt;
  /** The body of the event; null if it is no longer stored. */
  body: Buffer | null;
}

export function AttemptCard({ attempt, body }: AttemptCardProps) {
  const { number, manual, outcome, status, error, durationMs, timing, responseBody } = attempt;
  const requestHeaders = Object.entries(attempt.requestHeaders ?? {});
  const responseHeaders = attempt.responseHeaders ?? [];
  // Without headers, the connection failed before anything was sent.
  const wasSent = requestHeaders.length > 0;
  return (
    <Card
      title={`Attempt ${number}${manual ? ', requested by hand' : ''}`}
      action={<Status value={outcome ?? 'pending'} />}
    >
      <Facts
        rows={[
          ['URL', attempt.url],
          ['Response', status === null ? null : `HTTP ${status}`],
          ['Error', error],
          ['Started', <Time at={attempt.startedAt} seconds />],
          ['Duration', durationMs === null ? null : `${durationMs} ms`],
          ['Timing', timing === null ? null : timingText(timing)],
        ]}
      />
      {wasSent ? <Headers title="Request headers" headers={requestHeaders} /> : null}
      {wasSent && body !== null ? (
        <>
          <Text title="Request body" text={body.toString('utf8')} />
          <Curl text={curlCommand(attempt.url, requestHeaders, body.toString('utf8'))} />
        </>
      ) : null}
      {responseHeaders.length === 0 ? null : (
        <Headers title="Response headers" headers={responseHeaders} />
      )}
      {responseBody === null || responseBody.length === 0 ? null : (
        <Text
          title={`Response body${attempt.responseTruncated === true ? ' (first part)' : ''}`}
          text={responseBody.toString('utf8')}
          open
        />
      )}
    </Card>
  );
}

type Header = readonly [name: string, value: string];

function Headers({ title, headers }: { title: string; headers: readonly Header[] }) {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return <Text title={title} text={lines.join('\n')} />;
}

function Text({ title, text, open = false }: { title: string; text: string; open?: boolean }) {
  return (
    <details open={open}>
      <summary>{title}</summary>
      <pre class="code">{text}</pre>
    </details>
  );
}

function Curl({ text }: { text: string }) {
  return (
    <details>
      <summary>Request as curl</summary>
      <p class="muted">
        It has the signature and the time of this attempt. A receiver that checks the time refuses
        it after five minutes. <CopyButton value={text} label="Copy as curl" />
      </p>
      <pre class="code">{text}</pre>
    </details>
  );
}

/** curl sets these itself. */
const OWN_HEADERS = ['Host', 'Content-Length'];

function curlCommand(url: string, headers: readonly Header[], body: string): string {
  const sent = headers.filter(([name]) => !OWN_HEADERS.includes(name));
  return [
    `curl ${quoted(url)}`,
    ...sent.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(body)}`,
  ].join(' \\\n  ');
}

/** The text in quotes for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function timingText(timing: NonNullable<Attempt['timing']>): string {
  const parts = {
    DNS: timing.dnsMs,
    connect: timing.connectMs,
    TLS: timing.tlsMs,
    'first byte': timing.firstByteMs,
  };
  return Object.entries(parts)
    .flatMap(([name, ms]) => (ms === null ? [] : [`${words(name)} ${ms} ms`]))
    .join(' · ');
}
