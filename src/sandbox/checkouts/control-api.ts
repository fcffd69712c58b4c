/**
 * The handles of checkouts for tests: each does at once what a customer, the chain or the
 * provider would do. Part of ../control-api.ts.
 */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { BOOK_MODES, PROVIDER_NAMES } from '../config';
import { normalizeAmount, normalizeTransferred } from '../decimal-text';
import { readBody, readText } from '../request-body';
import type { CheckoutCallbacks } from './callbacks';
import type { Checkout } from './checkout';
import type { Checkouts } from './checkouts';
import { normalizeTime } from './order';
import type { CheckoutStep } from './steps';

export interface CheckoutControlParts {
  checkouts: Checkouts;
  checkoutCallbacks: CheckoutCallbacks;
}

type ReadStep = (ctx: Context, checkout: Checkout) => CheckoutStep;

const STEPS: Readonly<Record<string, ReadStep>> = {
  pay: readPay,
  start: () => ({ do: 'start' }),
  confirm: (ctx) => ({ do: 'confirm', transferId: readText(readBody(ctx), 'transfer_id') }),
  drop: (ctx) => ({ do: 'drop', transferId: readText(readBody(ctx), 'transfer_id') }),
  reorg: (ctx) => ({ do: 'reorg', transferId: readText(readBody(ctx), 'transfer_id') }),
  hold: () => ({ do: 'hold' }),
  release: () => ({ do: 'release' }),
  reject: () => ({ do: 'reject' }),
  refund: readRefund,
  cancel: () => ({ do: 'cancel' }),
  fail: () => ({ do: 'fail' }),
};

export function addCheckoutControls(router: Router, parts: CheckoutControlParts): void {
  const { checkouts, checkoutCallbacks } = parts;
  for (const [verb, readStep] of Object.entries(STEPS)) {
    router.post(`/control/checkouts/${verb}`, async (ctx) => {
      const checkout = await requireCheckout(ctx, checkouts);
      const outcome = await checkouts.act(checkout, readStep(ctx, checkout));
      if (outcome?.kind === 'checkout') ctx.body = presentCheckoutEntry(outcome.checkout);
      else ctx.throw(409, outcome?.reason ?? 'gone');
    });
  }

  router.post('/control/checkouts/resend-callback', async (ctx) => {
    const checkout = await requireCheckout(ctx, checkouts);
    void checkoutCallbacks.resend(checkout);
    ctx.body = presentCheckoutEntry(checkout);
  });
}

async function requireCheckout(ctx: Context, checkouts: Checkouts): Promise<Checkout> {
  const body = readBody(ctx);
  const provider = PROVIDER_NAMES.find((one) => one === body.provider);
  const mode = BOOK_MODES.find((one) => one === body.mode);
  if (provider === undefined) ctx.throw(400, `provider: ${PROVIDER_NAMES.join(' or ')}`);
  if (mode === undefined) ctx.throw(400, `mode: ${BOOK_MODES.join(' or ')}`);
  const reference = readText(body, 'client_reference') ?? '';
  const checkout = await checkouts.find({ provider, mode, reference });
  if (checkout === null) ctx.throw(404, 'No such checkout.');
  return checkout;
}

const WAYS_TO_SETTLE = ['confirm', 'drop', 'stay'] as const;

function readPay(ctx: Context, checkout: Checkout): CheckoutStep {
  const body = readBody(ctx);
  const amount = body.amount === undefined ? checkout.amount : normalizeTransferred(body.amount);
  const at = body.at === undefined ? null : normalizeTime(body.at);
  const then = WAYS_TO_SETTLE.find((one) => one === (body.then ?? 'confirm'));
  if (amount === null) return ctx.throw(400, 'amount: a decimal with up to 8 decimals');
  if (body.at !== undefined && at === null) return ctx.throw(400, 'at: a time');
  if (then === undefined) return ctx.throw(400, `then: ${WAYS_TO_SETTLE.join(', ')}`);
  return { do: 'pay', amount, at, then };
}

function readRefund(ctx: Context): CheckoutStep {
  const body = readBody(ctx);
  const amount = body.amount === undefined ? null : normalizeAmount(body.amount);
  if (body.amount !== undefined && amount === null) return ctx.throw(400, 'amount: a decimal');
  return { do: 'refund', refundReference: readText(body, 'refund_reference'), amount };
}

export function presentCheckoutEntry(checkout: Checkout): Record<string, unknown> {
  return {
    provider: checkout.provider,
    mode: checkout.mode,
    client_reference: checkout.reference,
    id: checkout.id,
    state: checkout.state,
    on_hold: checkout.onHold,
    scenario: checkout.scenario,
    amount: checkout.amount,
    currency: checkout.currency,
    network: checkout.network,
    pay_to: checkout.payTo,
    pay_to_memo: checkout.payToMemo,
    transfers: checkout.transfers.map((transfer) => ({
      id: transfer.id,
      amount: transfer.amount,
      status: transfer.status,
      seen_at: transfer.seenAt,
      confirmed_at: transfer.confirmedAt,
      tx_hash: transfer.txHash,
    })),
    refunds: checkout.refunds.map((refund) => ({
      id: refund.id,
      refund_reference: refund.reference,
      amount: refund.amount,
      refunded_at: refund.refundedAt,
    })),
    failure_code: checkout.failureCode,
    expires_at: checkout.expiresAt,
    created_at: checkout.createdAt,
    updated_at: checkout.updatedAt,
    planned: checkout.plan.map(({ due, step }) => ({ due, step: step.do })),
    version: checkout.version,
    acknowledged_version: checkout.acknowledgedVersion,
  };
}
