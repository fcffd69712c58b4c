/** The checkout part of the on-chain provider's API; ../checkouts decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { checkoutUrl, readCommonMembers } from '../checkouts/checkout';
import type { Checkout, CheckoutOrder, CheckoutStep } from '../checkouts/checkout';
import type { Checkouts } from '../checkouts/checkouts';
import type { StepRefusal } from '../checkouts/steps';
import type { SandboxSettings } from '../config';
import { normalizeAmount } from '../decimal-text';
import { readBookMode } from '../outages';
import type { ReferenceKey } from '../records';
import { normalizeTime, readBody, readText, REFERENCE } from '../request';
import {
  answerBadQuery,
  answerError,
  answerMalformed,
  presentOnchainCheckout,
  readChangesQuery,
} from './answers';
import { answerNotRepresentable, findFeeEstimate, isRepresentable } from './transfers';

const PROVIDER = 'onchain_provider';

export function addOnchainCheckouts(
  router: Router,
  checkouts: Checkouts,
  settings: SandboxSettings,
): void {
  const present = (checkout: Checkout): Record<string, unknown> =>
    presentOnchainCheckout(checkout, checkoutUrl(settings, checkout));

  router.post('/checkouts', async (ctx) => {
    const order = readOrder(ctx);
    if (order === null) {
      answerMalformed(ctx);
      return;
    }
    if (findFeeEstimate(order.currency, order.network ?? '') === null) {
      answerError(ctx, 422, 'asset_not_supported', 'The asset is not supported on this network.');
      return;
    }
    if (!isRepresentable(order.amount)) {
      answerNotRepresentable(ctx);
      return;
    }
    const opening = await checkouts.open(order);
    if (opening.kind === 'conflict') {
      answerError(
        ctx,
        409,
        'client_reference_conflict',
        'The client reference belongs to a different order.',
      );
      return;
    }
    const { checkout } = opening;
    ctx.status = opening.isNew ? 201 : 200;
    ctx.body = { checkout: present(checkout) };
  });

  router.get('/checkouts/:reference', async (ctx) => {
    const checkout = await checkouts.find(readKey(ctx));
    if (checkout === null) answerNotFound(ctx);
    else ctx.body = { checkout: present(checkout) };
  });

  router.get('/checkouts', async (ctx) => {
    const query = readChangesQuery(ctx);
    const book = { provider: PROVIDER, mode: readBookMode(ctx) } as const;
    const page = query === null ? null : await checkouts.list(book, query);
    if (page === null) answerBadQuery(ctx);
    else {
      ctx.body = { checkouts: page.entries.map(present), next_cursor: page.cursor };
    }
  });

  const act = async (ctx: Context, step: CheckoutStep | null): Promise<void> => {
    if (step === null) {
      answerMalformed(ctx);
      return;
    }
    const outcome = await checkouts.act(readKey(ctx), step);
    if (outcome === null) answerNotFound(ctx);
    else if (outcome.kind === 'refused') answerRefusal(ctx, outcome.reason);
    else ctx.body = { checkout: present(outcome.checkout) };
  };
  router.post('/checkouts/:reference/cancel', (ctx) => act(ctx, { do: 'cancel' }));
  router.post('/checkouts/:reference/compliance', (ctx) => act(ctx, readDecision(ctx)));
  router.post('/checkouts/:reference/refunds', (ctx) => act(ctx, readRefund(ctx)));
}

function readKey(ctx: Context): ReferenceKey {
  const { reference } = ctx.params as { reference?: string };
  return { provider: PROVIDER, mode: readBookMode(ctx), reference: reference ?? '' };
}

function readOrder(ctx: Context): CheckoutOrder | null {
  const body = readBody(ctx);
  const mode = readBookMode(ctx);
  const reference = readText(body, 'client_reference');
  const currency = readText(body, 'asset');
  const network = readText(body, 'network');
  const amount = normalizeAmount(body.amount);
  const expiresAt = normalizeTime(readText(body, 'expires_at'));
  const common = readCommonMembers(body, mode, {
    successUrl: 'success_url',
    cancelUrl: 'cancel_url',
    description: 'description',
  });
  if (reference === null || !REFERENCE.test(reference)) return null;
  if (currency === null || network === null || amount === null) return null;
  if (expiresAt === null || common === null) return null;
  return { provider: PROVIDER, mode, reference, amount, currency, network, expiresAt, ...common };
}

function readDecision(ctx: Context): CheckoutStep | null {
  const decision = readText(readBody(ctx), 'decision');
  return decision === 'release' || decision === 'reject' ? { do: decision } : null;
}

function readRefund(ctx: Context): CheckoutStep | null {
  const body = readBody(ctx);
  const refundReference = readText(body, 'refund_reference');
  const amount = normalizeAmount(body.amount);
  if (refundReference === null || !REFERENCE.test(refundReference) || amount === null) return null;
  return { do: 'refund', refundReference, amount };
}

function answerNotFound(ctx: Context): void {
  answerError(ctx, 404, 'checkout_not_found', 'No checkout has this client reference.');
}

function answerRefusal(ctx: Context, reason: StepRefusal): void {
  const status = reason === 'refund_reference_conflict' ? 409 : 422;
  answerError(ctx, status, reason, 'The state of the checkout does not allow this.');
}
