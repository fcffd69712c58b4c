/**
 * The control endpoints of checkouts: each does at once what a customer, the network or the
 * provider would do; and how the book shows a checkout. Part of ../control-api.ts.
 */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { normalizeAmount, normalizeTransferred } from '../decimal-text';
import { normalizeTime, readBody, readBookName, readText } from '../request';
import type { CheckoutCallbacks } from './callbacks';
import type { Checkout, CheckoutStep } from './checkout';
import type { Checkouts } from './checkouts';

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
      else ctx.throw(409, outcome?.reason ?? 'Checkout not found.');
    });
  }

  router.post('/control/checkouts/resend-callback', async (ctx) => {
    const checkout = await requireCheckout(ctx, checkouts);
    void checkoutCallbacks.resend(checkout);
    ctx.body = presentCheckoutEntry(checkout);
  });
}

async function requireCheckout(ctx: Context, checkouts: Checkouts): Promise<Checkout> {
  const reference = readText(readBody(ctx), 'client_reference') ?? '';
  const checkout = await checkouts.find({ ...readBookName(ctx), reference });
  if (checkout === null) ctx.throw(404, 'Checkout not found.');
  return checkout;
}

const WAYS_TO_SETTLE = ['confirm', 'drop', 'stay'] as const;

function readPay(ctx: Context, checkout: Checkout): CheckoutStep {
  const body = readBody(ctx);
  const amount = body.amount === undefined ? checkout.amount : normalizeTransferred(body.amount);
  const at = body.at === undefined ? null : normalizeTime(body.at);
  const then = WAYS_TO_SETTLE.find((one) => one === (body.then ?? 'confirm'));
  if (amount === null)
    return ctx.throw(400, 'amount must be a decimal string with at most 8 decimals.');
  if (body.at !== undefined && at === null) return ctx.throw(400, 'at must be an ISO 8601 time.');
  if (then === undefined)
    return ctx.throw(400, `then must be one of ${WAYS_TO_SETTLE.join(', ')}.`);
  return { do: 'pay', amount, at, then };
}

function readRefund(ctx: Context): CheckoutStep {
  const body = readBody(ctx);
  const amount = body.amount === undefined ? null : normalizeAmount(body.amount);
  if (body.amount !== undefined && amount === null)
    return ctx.throw(400, 'amount must be a positive decimal string with at most 8 decimals.');
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
