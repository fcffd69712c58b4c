/** The order part of Exchange Pay's API: its word for a checkout; ../checkouts decides. */
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
  answerFailure,
  answerList,
  answerMalformed,
  answerSuccess,
  CODES,
  CURRENCIES,
  presentExchangePayOrder,
} from './answers';

const PROVIDER = 'exchange_pay';

export function addExchangePayOrders(
  router: Router,
  checkouts: Checkouts,
  settings: SandboxSettings,
): void {
  const answerOrder = (ctx: Context, checkout: Checkout): void => {
    answerSuccess(ctx, presentExchangePayOrder(checkout, checkoutUrl(settings, checkout)));
  };

  router.post('/order/create', async (ctx) => {
    const order = readOrder(ctx);
    if (order === null) {
      answerMalformed(ctx);
      return;
    }
    if (!CURRENCIES.includes(order.currency)) {
      answerFailure(ctx, 400, CODES.orderCurrencyNotSupported, 'The currency is not supported.');
      return;
    }
    const opening = await checkouts.open(order);
    if (opening.kind === 'checkout') answerOrder(ctx, opening.checkout);
    else
      answerFailure(ctx, 400, CODES.orderConflict, 'merchantOrderId belongs to a different order.');
  });

  router.post('/order/query', async (ctx) => {
    const checkout = await checkouts.find(readKey(ctx));
    if (checkout === null) answerNotFound(ctx);
    else answerOrder(ctx, checkout);
  });

  router.post('/order/list', async (ctx) => {
    const book = { provider: PROVIDER, mode: readBookMode(ctx) } as const;
    await answerList(
      ctx,
      (query) => checkouts.list(book, query),
      (one) => presentExchangePayOrder(one, checkoutUrl(settings, one)),
    );
  });

  const act = async (ctx: Context, step: CheckoutStep | null): Promise<void> => {
    if (step === null) {
      answerMalformed(ctx);
      return;
    }
    const outcome = await checkouts.act(readKey(ctx), step);
    if (outcome === null) answerNotFound(ctx);
    else if (outcome.kind === 'refused') answerRefusal(ctx, outcome.reason);
    else answerOrder(ctx, outcome.checkout);
  };
  router.post('/order/close', (ctx) => act(ctx, { do: 'cancel' }));
  router.post('/order/risk', (ctx) => act(ctx, readDecision(ctx)));
  router.post('/order/refund', (ctx) => act(ctx, readRefund(ctx)));
}

function readKey(ctx: Context): ReferenceKey {
  const reference = readText(readBody(ctx), 'merchantOrderId') ?? '';
  return { provider: PROVIDER, mode: readBookMode(ctx), reference };
}

function readOrder(ctx: Context): CheckoutOrder | null {
  const body = readBody(ctx);
  const key = readKey(ctx);
  const currency = readText(body, 'currency');
  const amount = normalizeAmount(body.orderAmount);
  const expiresAt = typeof body.expireTime === 'number' ? normalizeTime(body.expireTime) : null;
  const common = readCommonMembers(body, key.mode, {
    successUrl: 'returnUrl',
    cancelUrl: 'cancelUrl',
    description: 'orderDescription',
  });
  if (!REFERENCE.test(key.reference)) return null;
  if (currency === null || amount === null || expiresAt === null || common === null) return null;
  return { ...key, amount, currency, network: null, expiresAt, ...common };
}

const DECISIONS: Readonly<Record<string, CheckoutStep>> = {
  RELEASE: { do: 'release' },
  REJECT: { do: 'reject' },
};

function readDecision(ctx: Context): CheckoutStep | null {
  const decision = readText(readBody(ctx), 'riskDecision') ?? '';
  return Object.hasOwn(DECISIONS, decision) ? (DECISIONS[decision] ?? null) : null;
}

function readRefund(ctx: Context): CheckoutStep | null {
  const body = readBody(ctx);
  const refundReference = readText(body, 'merchantRefundId');
  const amount = normalizeAmount(body.refundAmount);
  if (refundReference === null || !REFERENCE.test(refundReference) || amount === null) return null;
  return { do: 'refund', refundReference, amount };
}

const REFUSALS: Readonly<Partial<Record<StepRefusal, string>>> = {
  not_on_hold: CODES.orderNotOnHold,
  refund_too_large: CODES.refundTooLarge,
  refund_reference_conflict: CODES.refundConflict,
};

function answerRefusal(ctx: Context, reason: StepRefusal): void {
  const code = REFUSALS[reason] ?? CODES.orderRefused;
  answerFailure(ctx, 400, code, 'The state of the order does not allow this.');
}

function answerNotFound(ctx: Context): void {
  answerFailure(ctx, 400, CODES.orderNotFound, 'Order not found.');
}
