/**
 * The hosted page over HTTP: `/checkout/{id}` and one POST per button. The browser of a customer who
 * paid waits here and is redirected to success_url when the payment is confirmed, after a
 * cancellation to cancel_url; neither proves anything (Specification, "POST /payments").
 */
import type Router from '@koa/router';
import type { Context } from 'koa';

import { createPageRouter, seeOther, showPage } from '../../onchain-api/page/pages';
import { statusOf } from '../../onchain-api/page/status';
import type { SandboxSettings } from '../config';
import { type Checkout, checkoutUrl } from './checkout';
import type { Checkouts } from './checkouts';
import { PAGE_ACTIONS, type PageAction } from './page-actions';
import { SIMULATION_STYLE, viewPage } from './page-view';

export function checkoutPages(checkouts: Checkouts, settings: SandboxSettings): Router {
  const router = createPageRouter(SIMULATION_STYLE);

  router.get('/checkout/:id', async (ctx) => {
    const checkout = await requireCheckout(ctx, checkouts);
    const isWaiting = ctx.query.paying !== undefined;
    const view = viewPage(checkout, new Date(), checkoutUrl(settings, checkout), isWaiting);
    const hasPaid = isWaiting && statusOf(view).name === 'paid';
    if (hasPaid && checkout.successUrl !== null) seeOther(ctx, checkout.successUrl);
    else await showPage(ctx, view);
  });

  router.post('/checkout/:id/:action', async (ctx) => {
    const checkout = await requireCheckout(ctx, checkouts);
    const action = readAction(ctx);
    const { settleMs, slowMs } = settings;
    const time = { now: new Date(), settleMs, slowMs };
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
