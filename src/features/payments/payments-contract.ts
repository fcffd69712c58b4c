/**
 * Payments on the wire (the specification, "Payment object and payment request"; decisions/payments#payment-request,
 * decisions/payments#payment-object, decisions/money#amounts, decisions/api#validation and decisions/api#lists).
 */
import { type Static, Type } from 'typebox';
import type { FieldError } from '../../domain/errors';
import type { Mode } from '../../domain/mode';
import { amount, ZERO } from '../../domain/money';
import {
  PAYMENT_EXCEPTIONS,
  PAYMENT_STATUSES,
  type PaymentRequest,
  type Payment,
} from '../../domain/payment';
import {
  compileBody,
  type Json,
  RequestAmount,
  RequestCurrency,
  RequestDescription,
  RequestMetadata,
  RequestProvider,
  RequestText,
  sendAs,
} from '../../kit/api/body';
import {
  AmountText,
  CurrencyCode,
  Id,
  Metadata,
  ModeName,
  OneOf,
  OrNull,
  ProviderName,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import {
  created,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listed,
  listQueryOf,
  shown,
  operations,
} from '../../kit/api/operation';
import {
  CREATED,
  CURRENCY,
  matching,
  onPages,
  PROVIDER,
  type Query,
  readListQuery,
  someOf,
} from '../../kit/api/query';
import { amountDue, feeKept, netAmount, overpaidAmount } from '../../domain/payment-pricing';

const EXPIRES_IN_S = { min: 5, minLive: 300, max: 86_400, default: 3_600 };
/**
 * Scenarios of the sandbox that end with the payment window, which is short because nobody's test
 * should wait an hour.
 */
const SCENARIOS_OF_THE_WINDOW = ['underpaid', 'expired', 'late'];
const SCENARIO_WINDOW_S = 10;
/**
 * One part of an email address. It excludes what STORABLE_TEXT excludes, and a label has no full stop,
 * so the pattern matches in one way only.
 */
const NAME = '[^\\s@\\u0000\\p{Cs}]+';
const LABEL = '[^\\s@.\\u0000\\p{Cs}]+';
const EMAIL = `^${NAME}@${LABEL}(\\.${LABEL})+$`;

const REFERENCE = 'Your unique ID: 1 to 64 printable ASCII characters without spaces';
const RequestUrl = RequestText(2048, 'An absolute URL of at most 2048 characters');

/** The body of POST /payments (decisions/payments#payment-request). */
export const PaymentBody = Type.Object(
  {
    amount: RequestAmount,
    currency: RequestCurrency,
    reference: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[\\x21-\\x7e]*$',
      description: REFERENCE,
    }),
    description: Type.Optional(RequestDescription),
    customer_email: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: EMAIL,
        description: 'An email address of at most 254 characters',
      }),
    ),
    success_url: Type.Optional(RequestUrl),
    cancel_url: Type.Optional(RequestUrl),
    provider: Type.Optional(RequestProvider),
    network: Type.Optional(RequestText(64, 'The name of a network, such as "tron"')),
    metadata: Type.Optional(RequestMetadata),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: EXPIRES_IN_S.min,
        maximum: EXPIRES_IN_S.max,
        description: `A whole number of seconds from ${EXPIRES_IN_S.minLive} (${EXPIRES_IN_S.min} in test mode) to ${EXPIRES_IN_S.max}`,
      }),
    ),
  },
  { additionalProperties: false, description: 'A payment request' },
);

const readBody = compileBody(PaymentBody);

/** @throws ApiError validation_failed with every failing field */
export function readPaymentRequest(json: Json, mode: Mode): PaymentRequest {
  const body = readBody(json, (sent) => [
    ...urlErrors('success_url', sent['success_url'], mode),
    ...urlErrors('cancel_url', sent['cancel_url'], mode),
    ...windowErrors(sent['expires_in'], mode),
  ]);
  return {
    amount: amount(body.amount),
    currency: body.currency,
    reference: body.reference,
    description: body.description ?? null,
    customerEmail: body.customer_email ?? null,
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    provider: body.provider ?? null,
    network: body.network ?? null,
    metadata: body.metadata ?? {},
    expiresInSeconds: body.expires_in ?? defaultWindow(mode, body.metadata?.['scenario']),
  };
}

/** In live mode a short window is refused, because a customer needs time to pay. */
function windowErrors(value: unknown, mode: Mode): FieldError[] {
  if (mode === 'test' || typeof value !== 'number' || value >= EXPIRES_IN_S.minLive) return [];
  const { minLive, max } = EXPIRES_IN_S;
  const what = `A whole number of seconds from ${minLive} to ${max}, or omit it`;
  return [{ field: 'expires_in', rule: 'type', message: sendAs('expires_in', what) }];
}

function defaultWindow(mode: Mode, scenario: string | undefined): number {
  const isShort = mode === 'test' && SCENARIOS_OF_THE_WINDOW.includes(scenario ?? '');
  return isShort ? SCENARIO_WINDOW_S : EXPIRES_IN_S.default;
}

/**
 * A URL is stored as it was sent, so what a parser would drop or correct is refused: white space,
 * control characters, `https:shop`.
 */
const WEB_ADDRESS = /^https?:\/\/[^\s\p{Cc}\\]+$/iu;
/** A URL with a user name, which ends with an `@` between `//` and the path. */
const WITH_USER = /^[a-z]+:\/\/[^/?#]*@/i;

/** In live mode customers are sent back over https only. */
function urlErrors(field: string, value: unknown, mode: Mode): FieldError[] {
  if (typeof value !== 'string') return [];
  const protocols = mode === 'live' ? ['https:'] : ['https:', 'http:'];
  const url = WEB_ADDRESS.test(value) && !WITH_USER.test(value) ? URL.parse(value) : null;
  if (url !== null && protocols.includes(url.protocol)) return [];
  const wanted = mode === 'live' ? 'https://' : 'https:// or http://';
  const what = `An absolute URL starting with ${wanted}, without spaces or a user name`;
  return [{ field, rule: 'format', message: sendAs(field, what) }];
}

/** The filters of the list, in the API and on the page. */
export const PAYMENT_FILTERS = {
  status: onPages('Status', someOf(PAYMENT_STATUSES)),
  reference: onPages('Reference', matching(/^[\x21-\x7e]{1,64}$/, REFERENCE)),
  currency: onPages('Currency', CURRENCY),
  provider: onPages('Provider', PROVIDER),
  ...CREATED,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readPaymentQuery(query: Query) {
  return readListQuery(PAYMENT_FILTERS, query);
}

/** A payment (decisions/payments#payment-object). */
export const PaymentObject = Shape(
  {
    id: Id('payment'),
    object: Type.Literal('payment'),
    mode: ModeName,
    status: OneOf(PAYMENT_STATUSES, 'The status'),
    provider: ProviderName,
    network: OrNull(Type.String(), 'Null for a transfer within the provider'),
    reference: Type.String({ description: 'Your unique ID' }),
    amount: AmountText('The requested amount'),
    currency: CurrencyCode,
    received_amount: AmountText('The amount that is confirmed'),
    unconfirmed_amount: AmountText(
      'The amount that was seen and is not confirmed yet. It can still disappear: do not deliver for it',
    ),
    amount_due: AmountText(
      'The amount that the customer still has to send: what is unconfirmed is already subtracted',
    ),
    overpaid_amount: AmountText('The confirmed amount beyond the requested amount'),
    refunded_amount: AmountText('The amount refunded to the customer'),
    service_fee: AmountText('Our fee on the amount received and not refunded'),
    net_amount: OrNull(
      AmountText('The amount credited to your balance'),
      'Null until the payment is credited',
    ),
    exceptions: Type.Array(OneOf(PAYMENT_EXCEPTIONS, 'What was out of the ordinary')),
    tx_hash: OrNull(Type.String(), 'The hash of the last transfer, if the provider supplies one'),
    checkout_url: Type.String({
      format: 'uri',
      description: 'The checkout page. Send your customer to this URL',
    }),
    success_url: OrNull(
      Type.String(),
      'Where the customer returns; the redirect is not proof of payment',
    ),
    cancel_url: OrNull(Type.String(), 'Where the customer returns after cancelling'),
    description: OrNull(Type.String({ maxLength: 255 }), 'Your description'),
    customer_email: OrNull(Type.String({ maxLength: 254 }), 'The email address of the customer'),
    failure_reason: OrNull(
      Type.String(),
      'Set when the status is failed, or when an operator rejected the payment',
    ),
    metadata: Metadata,
    created_at: Timestamp('The time of creation'),
    expires_at: Timestamp('The time when the checkout expires'),
    completed_at: OrNull(Timestamp('The time of completion'), 'Null until completion'),
  },
  'A payment',
);
export type PaymentObject = Static<typeof PaymentObject>;

const REQUEST_EXAMPLES = {
  simple: { amount: '125.5', currency: 'USDT', reference: 'order-5501' },
  with_returns: {
    amount: '40',
    currency: 'USDC',
    reference: 'order-5502',
    network: 'base',
    success_url: 'https://shop.example.com/thanks',
    cancel_url: 'https://shop.example.com/cart',
    customer_email: 'customer@example.com',
    expires_in: 1800,
    metadata: { cart: '5502' },
  },
} satisfies Record<string, Static<typeof PaymentBody>>;

/** The payment of the documentation's examples. */
export const PAYMENT_EXAMPLE: PaymentObject = {
  id: 'pay_01M7YESA634WQFACSBWYSTKM76',
  object: 'payment',
  mode: 'test',
  status: 'created',
  provider: 'onchain_provider',
  network: 'tron',
  reference: 'order-5501',
  amount: '125.50000000',
  currency: 'USDT',
  received_amount: '0.00000000',
  unconfirmed_amount: '0.00000000',
  amount_due: '125.50000000',
  overpaid_amount: '0.00000000',
  refunded_amount: '0.00000000',
  service_fee: '0.00000000',
  net_amount: null,
  exceptions: [],
  tx_hash: null,
  checkout_url: 'https://provider.example.com/checkout/5501',
  success_url: null,
  cancel_url: null,
  description: null,
  customer_email: null,
  failure_reason: null,
  metadata: {},
  created_at: '2026-11-21T07:05:30.632Z',
  expires_at: '2026-11-21T08:05:30.632Z',
  completed_at: null,
};

/** The operations of /payments. */
export const PAYMENT_OPERATIONS = operations([
  {
    id: 'createPayment',
    method: 'post',
    path: '/payments',
    tag: 'Payments',
    summary: 'Create a payment',
    description:
      'Opens a checkout at a provider. Redirect your customer to checkout_url. The redirect back to your site is not proof of payment.',
    scope: 'payments:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: PaymentBody, examples: REQUEST_EXAMPLES },
    success: created(PaymentObject, PAYMENT_EXAMPLE),
    errors: CREATION_ERRORS,
  },
  {
    id: 'listPayments',
    method: 'get',
    path: '/payments',
    tag: 'Payments',
    summary: 'List payments',
    description: 'Returns payments, newest first.',
    scope: 'payments:read',
    parameters: listQueryOf(PAYMENT_FILTERS),
    success: listed(PaymentObject, '/payments', [PAYMENT_EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getPayment',
    method: 'get',
    path: '/payments/{id}',
    tag: 'Payments',
    summary: 'Retrieve a payment',
    description: 'Returns the current state of a payment.',
    scope: 'payments:read',
    parameters: [idOf('payment')],
    success: shown(PaymentObject, PAYMENT_EXAMPLE),
    errors: ['not_found'],
  },
  {
    id: 'verifyPayment',
    method: 'post',
    path: '/payments/{id}/verify',
    tag: 'Payments',
    summary: 'Check an open payment with the provider',
    description:
      'Updates an open payment from the provider and returns it. Limited to 6 requests per minute for each payment.',
    scope: 'payments:write',
    parameters: [idOf('payment')],
    success: shown(PaymentObject, PAYMENT_EXAMPLE),
    errors: ['not_found', 'service_unavailable'],
  },
  {
    id: 'cancelPayment',
    method: 'post',
    path: '/payments/{id}/cancel',
    tag: 'Payments',
    summary: 'Cancel a payment',
    description:
      'Closes the checkout of a payment for which nothing has arrived: its status is created or pending. Money that the customer sends afterwards is still credited, as late. After service_unavailable, the cancellation may still be carried out: send it again. Limited to 6 requests per minute for each payment.',
    scope: 'payments:write',
    parameters: [idOf('payment')],
    success: shown(PaymentObject, PAYMENT_EXAMPLE),
    errors: ['not_found', 'invalid_state', 'service_unavailable'],
  },
]);

/** A payment in API responses and webhook events (decisions/payments#payment-object). */

export function presentPayment(payment: Payment): PaymentObject {
  return {
    id: payment.id,
    object: 'payment',
    mode: payment.mode,
    status: payment.status,
    provider: payment.provider,
    network: payment.network,
    reference: payment.reference,
    amount: payment.amount,
    currency: payment.currency,
    received_amount: payment.receivedAmount,
    unconfirmed_amount: payment.unconfirmedAmount,
    amount_due: amountDue(payment),
    overpaid_amount: overpaidAmount(payment),
    refunded_amount: payment.refundedAmount,
    service_fee: feeKept(payment),
    net_amount: payment.creditedAmount === ZERO ? null : netAmount(payment),
    exceptions: payment.exceptions,
    tx_hash: payment.txHash,
    checkout_url: payment.checkoutUrl,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    description: payment.description,
    customer_email: payment.customerEmail,
    failure_reason: payment.failureReason,
    metadata: payment.metadata,
    created_at: payment.createdAt.toISOString(),
    expires_at: payment.expiresAt.toISOString(),
    completed_at: payment.completedAt?.toISOString() ?? null,
  };
}
