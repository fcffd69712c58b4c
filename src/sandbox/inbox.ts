/**
 * A merchant's receiver, for development (decision H10): verifies each event as the specification
 * says, keeps the newest in memory and shows them. It knows nothing of the gateway but its secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import Router from '@koa/router';
import { html, type Html } from './checkouts/html';
import { PAGE_STYLE } from './checkouts/page-assets';

const KEPT = 100;
const BODY_BYTES_MAX = 1_048_576;
const TOLERANCE_SECONDS = 300;

interface Arrival {
  received_at: string;
  event_id: string;
  type: string;
  /** Null: it is what it says; else what is wrong with it. */
  fault: string | null;
  body: string;
}

/** @param secret of the endpoint that points here; null verifies nothing and says so */
export function inbox(secret: string | null): Router {
  const arrivals: Arrival[] = [];
  const router = new Router({ prefix: '/inbox' });

  router.post('/', async (ctx) => {
    const body = await readBytes(ctx.req);
    const fault = faultOf(ctx.headers, body, secret, Date.now());
    arrivals.unshift({
      received_at: new Date().toISOString(),
      event_id: textOf(ctx.headers['x-gateway-event-id']),
      type: textOf(ctx.headers['x-gateway-event']),
      fault,
      body: body.toString('utf8'),
    });
    arrivals.splice(KEPT);
    ctx.status = fault === null ? 200 : 400;
    ctx.body = fault ?? 'thank you';
  });
  router.get('/events', (ctx) => {
    ctx.body = { data: arrivals };
  });
  router.get('/assets/page.css', (ctx) => {
    ctx.type = 'css';
    ctx.body = PAGE_STYLE;
  });
  router.get('/', (ctx) => {
    ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'self'; base-uri 'none'");
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'html';
    ctx.body = page(arrivals).text;
  });
  return router;
}

/** The specification, "Signature verification". */
function faultOf(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | null,
  nowMs: number,
): string | null {
  if (secret === null) return 'not verified: the sandbox was started without the secret';
  const parts = textOf(headers['x-gateway-signature']).split(',');
  const t = valueOf(parts, 't=');
  const given = Buffer.from(valueOf(parts, 'v1='), 'hex');
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return 'the signature does not fit the secret and the body';
  }
  const isNow = Math.abs(nowMs / 1000 - Number(t)) <= TOLERANCE_SECONDS;
  return isNow ? null : 'the timestamp is more than five minutes away';
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

function page(arrivals: readonly Arrival[]): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="refresh" content="3" />
        <title>Webhook inbox</title>
        <link rel="stylesheet" href="/inbox/assets/page.css" />
      </head>
      <body>
        <main>
          <h1>Webhook inbox</h1>
          <p>What the gateway sent to the demo merchant's test endpoint, newest first.</p>
          ${arrivals.length === 0 ? html`<p>Nothing yet.</p>` : arrivals.map(entry)}
        </main>
      </body>
    </html>`;
}

function entry({ received_at, event_id, type, fault, body }: Arrival): Html {
  const verdict = fault === null ? 'signature verified' : fault;
  return html`<details>
    <summary>${type} · ${received_at} · ${verdict}</summary>
    <p>${event_id}</p>
    <pre>${body}</pre>
  </details>`;
}
