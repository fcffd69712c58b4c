/**
 * The hosted page of the wallet's checkouts. A customer may read, and cancel while nothing has arrived.
 */
import type Router from '@koa/router';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { type PageView, titleOf, type TransferLine } from '../../onchain-api/page/page';
import type { EvmPayment } from '../../onchain-api/page/payment-uri';
import { shortAmount } from '../../onchain-api/page/status';
import { createPageRouter, seeOther, showPage } from '../../onchain-api/page/pages';
import {
  arrivedAmount,
  type Checkout,
  type CheckoutFacts,
  confirmedAmount,
  type Deposit,
} from '../checkouts/checkout';
import { type CheckoutParts, nextUrl, takeStep } from '../checkouts/steps';
import { findCheckoutById } from '../checkouts/store';
import { viewCheckout } from '../checkouts/view';

export function checkoutPages(parts: CheckoutParts): Router {
  const { db } = parts;
  const router = createPageRouter();

  const find = async (ctx: Context): Promise<CheckoutFacts> => {
    const { id = '' } = ctx.params as { id?: string };
    const facts = /^[0-9a-f]{32}$/.test(id) ? await findCheckoutById(db, id) : null;
    if (facts === null) ctx.throw(404, 'This checkout does not exist.');
    return facts;
  };

  router.get('/checkout/:id', async (ctx) => {
    await showPage(ctx, await viewPage(parts, await find(ctx)));
  });

  const form = bodyParser({ enableTypes: ['form'], formLimit: '4kb' });

  router.post('/checkout/:id/cancel', form, async (ctx) => {
    const { checkout } = await find(ctx);
    await takeStep(parts, checkout.id, { do: 'cancel' });
    const after = await find(ctx);
    seeOther(ctx, nextUrl(after) ?? `/checkout/${checkout.id}`);
  });

  return router;
}

/** After this time, whoever opens the page of a paid checkout wants to read it. */
const LEAVES_WITHIN_MS = 600_000;

async function viewPage(parts: CheckoutParts, facts: CheckoutFacts): Promise<PageView> {
  const { checkout, deposits } = facts;
  const heads = await readHeads(parts, facts);
  const now = new Date();
  const finalTimes = deposits.map(({ finalAt }) => finalAt?.getTime() ?? 0);
  return {
    checkout: viewCheckout(facts, parts.pageUrl(checkout.id)),
    mode: checkout.mode,
    merchant: checkout.merchantName,
    logoUrl: checkout.merchantLogoUrl,
    description: checkout.description,
    successUrl: checkout.successUrl,
    cancelUrl: checkout.cancelUrl,
    place: titleOf(checkout.network),
    arrived: arrivedAmount(facts),
    confirmed: confirmedAmount(facts),
    transfers: deposits.map((one) => ({
      amount: `${shortAmount(one.amount)} ${one.asset}`,
      state: depositState(parts, one, checkout.isHeld, heads.get(one.chainId)),
      txHash: one.txHash,
    })),
    evm: evmOf(parts, checkout),
    banner: checkout.mode === 'test' ? 'testMode' : null,
    now,
    canCancel: true,
    leaves: now.getTime() - Math.max(0, ...finalTimes) < LEAVES_WITHIN_MS,
  };
}

/** @param head the newest block of the deposit's chain that was read */
function depositState(
  { networks }: CheckoutParts,
  one: Deposit,
  isHeld: boolean,
  head = one.blockNumber,
): TransferLine['state'] {
  if (!one.isExpected) return 'transferOther';
  if (one.state === 'final') return 'transferConfirmed';
  if (one.state === 'vanished') return 'transferVanished';
  if (isHeld) return 'transferHeld';
  const finality = networks.find(({ chainId }) => chainId === one.chainId)?.finality;
  // The deposit's own block is one of them; the setting counts those that follow.
  const required = typeof finality === 'number' ? finality + 1 : null;
  const confirmations = Math.max(1, head - one.blockNumber + 1);
  return { confirmations: Math.min(confirmations, required ?? confirmations), required };
}

/** The token that the wallet expects. */
function evmOf({ networks }: CheckoutParts, { chainId, asset, decimals }: Checkout): EvmPayment {
  const tokens = networks.find((one) => one.chainId === chainId)?.tokens ?? [];
  const token = tokens.find((one) => one.asset === asset)?.address ?? null;
  return { chainId, token, decimals };
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
