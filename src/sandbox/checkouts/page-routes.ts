/**
 * The hosted page over HTTP: `/checkout/{id}` and one POST per button. The id is the page's only
 * credential, as on a real provider's page. The browser of a customer who paid waits here and is
 * redirected to success_url when the payment is confirmed, after a cancellation to cancel_url;
 * neither proves anything (Specification, "POST /payments").
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import type { SandboxSettings } from '../config';
import { PAGE_STYLE } from '../html';
import type { Checkout } from './checkout';
import type { Checkouts } from './checkouts';
import { renderCheckoutPage, statusOf } from './page';
import { PAGE_ACTIONS, type PageAction } from './page-actions';

/** No form-action: browsers would apply it to the redirect to success_url too. */
const CONTENT_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'";

export function checkoutPages(checkouts: Checkouts, settings: SandboxSettings): Router {
  const router = new Router({ prefix: '/checkout' });
  router.use(async (ctx, next) => {
    ctx.set('Content-Security-Policy', CONTENT_POLICY);
    ctx.set('X-Content-Type-Options', 'nosniff');
    // The URL is the credential, so no other site sees it; no-referrer would hide the origin of the forms.
    ctx.set('Referrer-Policy', 'same-origin');
    ctx.set('Cache-Control', 'no-store');
    await next();
  });

  router.get('/assets/page.css', (ctx) => {
    ctx.type = 'css';
    ctx.body = PAGE_STYLE;
  });
  router.get('/assets/page.js', (ctx) => {
    ctx.type = 'js';
    ctx.body = PAGE_SCRIPT;
  });

  router.get('/:id', async (ctx) => {
    const checkout = await requireCheckout(ctx, checkouts);
    const isWaiting = ctx.query.paying !== undefined;
    const isPaid = statusOf(checkout, new Date()).name === 'paid';
    if (isWaiting && isPaid && checkout.successUrl !== null) seeOther(ctx, checkout.successUrl);
    else {
      ctx.type = 'html';
      ctx.body = await renderCheckoutPage(checkout, new Date(), isWaiting);
    }
  });

  router.post('/:id/:action', async (ctx) => {
    const checkout = await requireCheckout(ctx, checkouts);
    const action = readAction(ctx);
    const time = { now: new Date(), settleMs: settings.settleMs };
    // The button of an outdated page may no longer be offered; the browser then sees the current state.
    const steps = action.isOffered(checkout, time.now) ? action.steps(checkout, time) : [];
    for (const step of steps) await checkouts.act(checkout, step);
    seeOther(ctx, nextAddress(await requireCheckout(ctx, checkouts), action));
  });

  return router;
}

function nextAddress({ id, state, cancelUrl }: Checkout, { then }: PageAction): string {
  if (then === 'wait') return `/checkout/${id}?paying=1`;
  const hasLeft = then === 'leave' && state === 'cancelled' && cancelUrl !== null;
  return hasLeft ? cancelUrl : `/checkout/${id}`;
}

async function requireCheckout(ctx: Context, checkouts: Checkouts): Promise<Checkout> {
  const { id } = ctx.params as { id?: string };
  const checkout = await checkouts.findById(id ?? '');
  if (checkout === null) ctx.throw(404, 'Checkout not found.');
  return checkout;
}

function readAction(ctx: Context): PageAction {
  const { action = '' } = ctx.params as { action?: string };
  const known = Object.hasOwn(PAGE_ACTIONS, action) ? PAGE_ACTIONS[action] : undefined;
  if (known === undefined) ctx.throw(404, 'Unknown action.');
  return known;
}

/** The browser asks for the next page with GET, whatever it sent here. */
function seeOther(ctx: Context, address: string): void {
  ctx.status = 303;
  ctx.redirect(address);
}

/** Counts down and reloads; without it the page shows the time limit and works the same. */
const PAGE_SCRIPT = `'use strict';
const REFRESH_MS = 3000;
const countdown = document.querySelector('[data-expires-at]');
if (countdown) {
  const expiresAt = Date.parse(countdown.dataset.expiresAt);
  const show = () => {
    const seconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000));
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    countdown.textContent =
      seconds === 0 ? 'expired' : parts.map((part) => String(part).padStart(2, '0')).join(':');
  };
  show();
  setInterval(show, 1000);
}
if (document.body.dataset.live === 'yes') {
  setTimeout(() => location.reload(), REFRESH_MS);
}
`;
