/**
 * The hosted page over HTTP. The id in the URL is the page's only credential, as with any provider's
 * page. A customer may read, cancel while nothing arrived, and say where a refund goes.
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { type Address, getAddress, isAddress } from 'viem';
import type { CheckoutFacts } from '../checkouts/checkout';
import { type CheckoutParts, nextUrl, takeStep } from '../checkouts/steps';
import { findCheckoutById } from '../checkouts/store';
import type { Network } from '../networks';
import { PAGE_SCRIPT, PAGE_STYLE, SCRIPT_PATH, STYLE_PATH } from './assets';
import { type PageView, renderCheckoutPage } from './page';

/** No form-action: browsers would apply it to the redirect to cancel_url too. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface PageParts extends CheckoutParts {
  /** The wallet's own addresses, lost ones, the denylist. */
  isRefused: (network: Network, destination: Address) => Promise<boolean>;
}

export function checkoutPages(parts: PageParts): Router {
  const { db } = parts;
  const router = new Router();
  const headers = {
    'Content-Security-Policy': CONTENT_POLICY,
    'X-Content-Type-Options': 'nosniff',
    // The URL is the credential, so no other site sees it; no-referrer would hide the forms' origin.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
  const asset = (path: string, type: string, text: string): void => {
    router.get(path, (ctx) => {
      ctx.set({ ...headers, 'Cache-Control': 'public, max-age=300' });
      ctx.type = type;
      ctx.body = text;
    });
  };
  asset(STYLE_PATH, 'css', PAGE_STYLE);
  asset(SCRIPT_PATH, 'js', PAGE_SCRIPT);

  const find = async (ctx: Context): Promise<CheckoutFacts> => {
    const { id = '' } = ctx.params as { id?: string };
    const facts = /^[0-9a-f]{32}$/.test(id) ? await findCheckoutById(db, id) : null;
    if (facts === null) ctx.throw(404, 'This checkout does not exist.');
    return facts;
  };
  const show = async (
    ctx: Context,
    facts: CheckoutFacts,
    problem?: PageView['problem'],
  ): Promise<void> => {
    ctx.set({ ...headers, 'Cache-Control': 'no-store' });
    ctx.type = 'html';
    const heads = await readHeads(parts, facts);
    ctx.body = await renderCheckoutPage({
      ...{ facts, heads, now: new Date() },
      ...(problem === undefined ? {} : { problem }),
    });
  };

  router.get('/checkout/:id', async (ctx) => {
    await show(ctx, await find(ctx));
  });

  const form = bodyParser({ enableTypes: ['form'], formLimit: '4kb' });

  router.post('/checkout/:id/cancel', form, async (ctx) => {
    const { checkout } = await find(ctx);
    await takeStep(parts, checkout.id, { do: 'cancel' });
    const after = await find(ctx);
    ctx.status = 303;
    ctx.redirect(nextUrl(after) ?? `/checkout/${checkout.id}`);
  });

  router.post('/checkout/:id/refund-address', form, async (ctx) => {
    const facts = await find(ctx);
    const entered = readAddress(ctx);
    const problem = await problemWith(parts, facts, entered);
    if (problem !== null) {
      ctx.status = 422;
      await show(ctx, facts, { entered, text: problem });
      return;
    }
    const address = entered.toLowerCase();
    // Refused only when another window was quicker; the page then shows what holds.
    await takeStep(parts, facts.checkout.id, { do: 'set_refund_address', address });
    ctx.status = 303;
    ctx.redirect(`/checkout/${facts.checkout.id}`);
  });

  return router;
}

function readAddress(ctx: Context): string {
  const body: unknown = ctx.request.body;
  const value =
    typeof body === 'object' && body !== null && 'address' in body ? body.address : undefined;
  return typeof value === 'string' ? value.trim().slice(0, 80) : '';
}

/** Null when a refund can go there. */
async function problemWith(
  { db, networks, isRefused }: PageParts,
  { checkout }: CheckoutFacts,
  entered: string,
): Promise<string | null> {
  if (!isAddress(entered)) {
    return 'Enter an address that starts with 0x and has 40 letters and digits, exactly as your wallet shows it.';
  }
  const network = networks.find(
    ({ mode, name }) => mode === checkout.mode && name === checkout.network,
  );
  const isOwn = await db.query('SELECT 1 FROM wallet.checkout WHERE address = $1', [
    entered.toLowerCase(),
  ]);
  const isBad =
    network === undefined || isOwn.length > 0 || (await isRefused(network, getAddress(entered)));
  return isBad
    ? 'A refund cannot be sent to this address. Enter an address that you control.'
    : null;
}

async function readHeads(
  { db }: CheckoutParts,
  { deposits }: CheckoutFacts,
): Promise<Map<number, number>> {
  const rows = await db.query<{ chain_id: string; head_number: string }>(
    'SELECT chain_id, head_number FROM wallet.followed_chain WHERE chain_id = ANY ($1)',
    [[...new Set(deposits.map(({ chainId }) => chainId))]],
  );
  return new Map(rows.map((row) => [Number(row.chain_id), Number(row.head_number)]));
}
