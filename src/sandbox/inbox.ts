/**
 * A merchant's webhook receiver, for development (decisions/development): verifies each event as specified,
 * keeps the newest in memory and shows them. Its only link to the gateway is the secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Context } from 'koa';
import { html, type Html, NOTHING, PAGE_STYLE } from './html';
import { wallClockMs } from '../lib/wall-clock';

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
    ctx.body = PAGE_STYLE;
  });
  router.get('/', (ctx) => {
    protect(ctx);
    ctx.body = listPage(arrivals).text;
  });
  router.get('/:eventId', (ctx) => {
    const { eventId } = ctx.params as { eventId?: string };
    const arrival = arrivals.find((one) => one.event_id === eventId);
    if (arrival === undefined)
      return ctx.throw(404, 'Event not found. The inbox keeps only the newest events.');
    protect(ctx);
    ctx.body = eventPage(arrival).text;
  });
  return router;
}

function protect(ctx: Context): void {
  ctx.set(
    'Content-Security-Policy',
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'",
  );
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
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

function listPage(arrivals: readonly Arrival[]): Html {
  const rows = arrivals.map(({ received_at, type, fault, body, event_id }) => {
    const { id, status } = dataOf(body);
    return html`<tr>
      <td>${received_at.slice(11, 19)}</td>
      <td><a href="/inbox/${encodeURIComponent(event_id)}">${type}</a></td>
      <td><code>${id}</code></td>
      <td>${status}</td>
      <td class="${fault === null ? 'good' : 'bad'}">${fault ?? 'verified'}</td>
    </tr>`;
  });
  const table = html`<table>
    <thead>
      <tr>
        <th>Time (UTC)</th>
        <th>Event</th>
        <th>Object</th>
        <th>Status</th>
        <th>Signature</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
  const nothing = html`<p>No events yet. Create a payment or a payout in test mode.</p>`;
  // Reloads by itself; the page has nothing that a reload could lose.
  return page(
    html`<meta http-equiv="refresh" content="3" />`,
    html`<p class="note">Webhooks sent to the demo merchant's test endpoint, newest first.</p>
      ${arrivals.length === 0 ? nothing : table}`,
  );
}

function eventPage({ received_at, event_id, type, fault, body }: Arrival): Html {
  return page(
    NOTHING,
    html`<p class="amount">${type}</p>
      <dl>
        <dt>Event</dt>
        <dd><code>${event_id}</code></dd>
        <dt>Received</dt>
        <dd>${received_at}</dd>
        <dt>Signature</dt>
        <dd class="${fault === null ? 'good' : 'bad'}">${fault ?? 'verified'}</dd>
      </dl>
      <pre>${prettyOf(body)}</pre>
      <p><a href="/inbox">All events</a></p>`,
  );
}

function page(head: Html, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${head}
        <title>Webhook inbox</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/inbox/assets/page.css" />
      </head>
      <body>
        <p class="banner">Sandbox: webhooks as a merchant's server receives them</p>
        <main class="wide">
          <div class="card">
            <h1>Webhook inbox</h1>
            ${content}
          </div>
        </main>
      </body>
    </html>`;
}

/** Of the object that the event is about; empty where the body is something else. */
function dataOf(body: string): { id: string; status: string } {
  const data = (parse(body) as { data?: Record<string, unknown> } | null)?.data ?? {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { id: text(data.id), status: text(data.status) };
}

/** Indented where it is JSON. */
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
