/**
 * A merchant's webhook receiver, for development (decisions/tools#development): verifies each event as specified,
 * keeps the newest in memory and shows them. Its only link to the gateway is the secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { wallClockMs } from '../../platform/lib/wall-clock';
import { PAGE_STYLE } from '../onchain-api/page/assets';

const KEPT = 100;
const BODY_BYTES_MAX = 1_048_576;
const TOLERANCE_SECONDS = 300;

interface Arrival {
  received_at: string;
  event_id: string;
  type: string;
  /** Null when it is authentic; otherwise what is wrong. */
  fault: string | null;
  body: string;
}

/** @param secret of the endpoint that points here; null verifies nothing and says so */
export function inbox(secret: string | null): Router {
  const arrivals: Arrival[] = [];
  const router = new Router({ prefix: '/inbox' });

  router.post('/', async (ctx) => {
    const body = await readBytes(ctx.req);
    const fault = faultOf(ctx.headers, body, secret, wallClockMs());
    arrivals.unshift({
      received_at: new Date().toISOString(),
      event_id: textOf(ctx.headers['x-gateway-event-id']),
      type: textOf(ctx.headers['x-gateway-event']),
      fault,
      body: body.toString('utf8'),
    });
    arrivals.splice(KEPT);
    ctx.status = fault === null ? 200 : 400;
    ctx.body = fault ?? 'ok';
  });
  router.get('/events', (ctx) => {
    ctx.body = { data: arrivals };
  });
  router.get('/assets/page.css', (ctx) => {
    ctx.type = 'css';
    ctx.body = PAGE_STYLE + TABLE_STYLE;
  });
  router.get('/assets/page.js', (ctx) => {
    ctx.type = 'js';
    ctx.body = FOLLOW;
  });
  router.get('/', (ctx) => {
    show(ctx, <List arrivals={arrivals} />, true);
  });
  router.get('/:eventId', (ctx) => {
    const { eventId } = ctx.params as { eventId?: string };
    const arrival = arrivals.find((one) => one.event_id === eventId);
    if (arrival === undefined)
      return ctx.throw(404, 'Event not found. The inbox keeps only the newest events.');
    show(ctx, <Event arrival={arrival} />);
  });
  return router;
}

/** @param follows whether the page shows new events by itself */
function show(ctx: Context, content: VNode, follows = false): void {
  ctx.set(
    'Content-Security-Policy',
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'",
  );
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Webhook inbox</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/inbox/assets/page.css" />
        {follows ? <script defer src="/inbox/assets/page.js" /> : null}
      </head>
      <body>
        <header class="banner">Sandbox: webhooks as a merchant&apos;s server receives them</header>
        <main class="wide">
          <div class="card">
            <h1>Webhook inbox</h1>
            {content}
          </div>
        </main>
      </body>
    </html>
  );
  ctx.body = `<!doctype html>${renderToString(page)}`;
}

/** The specification, "Signature verification". */
function faultOf(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | null,
  nowMs: number,
): string | null {
  if (secret === null) return 'not verified: the sandbox was started without a secret';
  const parts = textOf(headers['x-gateway-signature']).split(',');
  const t = valueOf(parts, 't=');
  const given = Buffer.from(valueOf(parts, 'v1='), 'hex');
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return 'invalid signature';
  }
  const isNow = Math.abs(nowMs / 1000 - Number(t)) <= TOLERANCE_SECONDS;
  return isNow ? null : 'timestamp outside the tolerance of five minutes';
}

function valueOf(parts: readonly string[], name: string): string {
  return (parts.find((part) => part.startsWith(name)) ?? '').slice(name.length);
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function List({ arrivals }: { arrivals: readonly Arrival[] }): VNode {
  return (
    <>
      <p class="soft">Webhooks sent to the demo merchant&apos;s test endpoint, newest first.</p>
      {arrivals.length === 0 ? (
        <p>No events yet. Create a payment or a payout in test mode.</p>
      ) : (
        <table>
          <thead>
            <tr>
              {['Time (UTC)', 'Event', 'Object', 'Status', 'Signature'].map((title) => (
                <th>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {arrivals.map((arrival) => (
              <Row arrival={arrival} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Row({ arrival }: { arrival: Arrival }): VNode {
  const { received_at, type, body, event_id } = arrival;
  const { id, status } = dataOf(body);
  return (
    <tr>
      <td>{received_at.slice(11, 19)}</td>
      <td>
        <a href={`/inbox/${encodeURIComponent(event_id)}`}>{type}</a>
      </td>
      <td>
        <code>{id}</code>
      </td>
      <td>{status}</td>
      <td>
        <Signature arrival={arrival} />
      </td>
    </tr>
  );
}

function Event({ arrival }: { arrival: Arrival }): VNode {
  const term = (name: string, content: ComponentChildren): VNode => (
    <>
      <dt>{name}</dt>
      <dd>{content}</dd>
    </>
  );
  return (
    <>
      <h2>{arrival.type}</h2>
      <dl>
        {term('Event', <code>{arrival.event_id}</code>)}
        {term('Received', arrival.received_at)}
        {term('Signature', <Signature arrival={arrival} />)}
      </dl>
      <pre>{prettyOf(arrival.body)}</pre>
      <p>
        <a href="/inbox">All events</a>
      </p>
    </>
  );
}

function Signature({ arrival: { fault } }: { arrival: Arrival }): VNode {
  return <span class={fault === null ? 'good' : 'bad'}>{fault ?? 'verified'}</span>;
}

const FOLLOW = `setInterval(async () => {
  const response = await fetch(location.href).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const [shown, next] = [document, page].map((one) => one.querySelector('tbody') ?? one.querySelector('main'));
  if (shown.innerHTML !== next.innerHTML) shown.replaceWith(next);
}, 3000);
`;

const TABLE_STYLE = `
main.wide { max-width: 60rem; }
.wide h1 { font-size: 1.25rem; margin-bottom: .5rem; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin-top: 1rem; }
th, td { text-align: left; padding: .3rem .5rem .3rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
td { white-space: nowrap; }
td code { font-size: .8rem; }
@media (max-width: 45rem) {
  thead { display: none; }
  tr { display: block; padding: .4rem 0; border-top: 1px solid var(--line); }
  td { display: inline-block; border: 0; padding: .1rem .6rem .1rem 0; white-space: normal; }
}
.good { color: var(--good-edge); }
.bad { color: var(--bad-edge); }
pre { background: var(--field); border-radius: .5rem; padding: .8rem; overflow-x: auto; font-size: .85rem; }
`;

/** What the event says of its object; empty when the body is something else. */
function dataOf(body: string): { id: string; status: string } {
  const data = (parse(body) as { data?: Record<string, unknown> } | null)?.data ?? {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { id: text(data.id), status: text(data.status) };
}

function prettyOf(body: string): string {
  const parsed = parse(body);
  return parsed === null ? body : JSON.stringify(parsed, null, 2);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
