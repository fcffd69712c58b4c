/** The order part of Exchange Pay's API: its word for a checkout; ../checkouts decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { Type } from 'typebox';
import {
  Description,
  OBJECT,
  OrNull,
  PositiveAmount,
  Reference,
  Text,
  toAmount,
  URL_RULE,
  WebUrl,
} from '../../onchain-api/requests';
import { checkoutUrl, findScenario } from '../checkouts/checkout';
import type { Checkout, CheckoutOrder, CheckoutStep } from '../checkouts/checkout';
import type { Checkouts } from '../checkouts/checkouts';
import type { StepRefusal } from '../checkouts/steps';
import type { SandboxSettings } from '../config';
import { readBookMode } from '../outages';
import type { ReferenceKey } from '../records';
import { normalizeTime, readBody, readText } from '../request';
import {
  answerFailure,
  answerList,
  answerSuccess,
  checkBody,
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

  const act = async (ctx: Context, step: CheckoutStep): Promise<void> => {
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

const TIME_RULE = 'must be a time in milliseconds since 1970';

const OrderBody = Type.Object(
  {
    merchantOrderId: Reference,
    currency: Text,
    orderAmount: PositiveAmount,
    expireTime: Type.Refine(
      Type.Number({ description: TIME_RULE }),
      (time) => normalizeTime(time) !== null,
      () => TIME_RULE,
    ),
    returnUrl: OrNull(WebUrl, URL_RULE),
    cancelUrl: OrNull(WebUrl, URL_RULE),
    orderDescription: Description,
    scenario: Type.Optional(Type.Unknown()),
  },
  OBJECT,
);

function readOrder(ctx: Context): CheckoutOrder {
  const body = checkBody(ctx, OrderBody);
  const key = readKey(ctx);
  return {
    ...key,
    amount: toAmount(body.orderAmount),
    currency: body.currency,
    network: null,
    expiresAt: new Date(body.expireTime).toISOString(),
    successUrl: body.returnUrl ?? null,
    cancelUrl: body.cancelUrl ?? null,
    description: body.orderDescription ?? null,
    scenario: findScenario(key.mode, body.scenario),
  };
}

const DecisionBody = Type.Object(
  {
    riskDecision: Type.Enum(['RELEASE', 'REJECT'], {
      description: 'must be "RELEASE" or "REJECT"',
    }),
  },
  OBJECT,
);

function readDecision(ctx: Context): CheckoutStep {
  const { riskDecision } = checkBody(ctx, DecisionBody);
  return { do: riskDecision === 'RELEASE' ? 'release' : 'reject' };
}

const RefundBody = Type.Object(
  { merchantRefundId: Reference, refundAmount: PositiveAmount },
  OBJECT,
);

function readRefund(ctx: Context): CheckoutStep {
  const { merchantRefundId, refundAmount } = checkBody(ctx, RefundBody);
  return { do: 'refund', refundReference: merchantRefundId, amount: toAmount(refundAmount) };
}

const REFUSALS: Readonly<Partial<Record<StepRefusal, string>>> = {
  not_on_hold: CODES.orderNotOnHold,
  refund_too_large: CODES.refundTooLarge,
  refund_refused: CODES.refundRefused,
  refund_reference_conflict: CODES.refundConflict,
};

function answerRefusal(ctx: Context, reason: StepRefusal): void {
  if (reason === 'no_answer') {
    answerFailure(ctx, 500, CODES.internalError, 'The request could not be answered.');
    return;
  }
  const code = REFUSALS[reason] ?? CODES.orderRefused;
  answerFailure(ctx, 400, code, 'The state of the order does not allow this.');
}

function answerNotFound(ctx: Context): void {
  answerFailure(ctx, 400, CODES.orderNotFound, 'Order not found.');
}
