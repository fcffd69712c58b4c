/** Refunds on the wire (decisions/payments#refunds). */
import { type Static, Type } from 'typebox';
import { DESTINATION_TYPES } from '../../domain/destination';
import { amount, ZERO } from '../../domain/money';
import {
  REFUND_REQUESTERS,
  REFUND_STATUSES,
  type RefundRequest,
  awaitsAddress,
  type Refund,
  refundStatus,
} from '../../domain/refund';
import { compileBody, type Json, RequestAmount, RequestDescription } from '../../kit/api/body';
import {
  AmountText,
  AwaitsSecondPerson,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  OrNull,
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
import { destinationErrors, PayoutBody, readMemo } from '../payouts/payouts-contract';
import {
  CREATED,
  CURRENCY,
  matching,
  type Query,
  readListQuery,
  someOf,
} from '../../kit/api/query';

/** The body of POST /payments/{id}/refunds. */
export const RefundBody = Type.Object(
  {
    amount: Type.Optional(RequestAmount),
    reference: PayoutBody.properties.reference,
    reason: Type.Optional(RequestDescription),
    destination: Type.Optional(PayoutBody.properties.destination),
  },
  { additionalProperties: false, description: 'A refund request' },
);

const readBody = compileBody(RefundBody);

/** A request before its payment is known: the memo's absence means something on some networks. */
export type RefundInput = Omit<RefundRequest, 'paymentId' | 'destination'> & {
  destination: (Static<typeof PayoutBody.properties.destination> & { memo?: string | null }) | null;
};

/** @throws ApiError validation_failed with every failing field */
export function readRefundRequest(json: Json): RefundInput {
  const body = readBody(json, destinationErrors);
  const { destination = null } = body;
  return {
    amount: body.amount === undefined ? null : amount(body.amount),
    reference: body.reference,
    reason: body.reason ?? null,
    destination:
      destination === null
        ? null
        : {
            type: destination.type,
            value: destination.value,
            ...withMemo(readMemo(json, destination.memo ?? '')),
          },
  };
}

function withMemo(memo: string | null | undefined): { memo?: string | null } {
  return memo === undefined ? {} : { memo };
}

const PAYMENT_FILTERS = {
  status: someOf(REFUND_STATUSES),
  reference: matching(
    /^[A-Za-z0-9_-]{1,64}$/,
    'Your unique ID: 1 to 64 letters, digits, "_" or "-"',
  ),
  ...CREATED,
};

const FILTERS = {
  ...PAYMENT_FILTERS,
  payment_id: matching(/^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'The ID of a payment'),
  currency: CURRENCY,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readRefundQuery(query: Query) {
  return readListQuery(FILTERS, query);
}

/** The list of one payment. @throws ApiError validation_failed with every failing parameter */
export function readPaymentRefundQuery(query: Query) {
  return readListQuery(PAYMENT_FILTERS, query);
}

/** A refund (decisions/payments#refunds). */
export const RefundObject = Shape(
  {
    id: Id('refund'),
    object: Type.Literal('refund'),
    mode: ModeName,
    status: OneOf(REFUND_STATUSES, 'The status'),
    payment_id: Id('payment'),
    reference: OrNull(
      Type.String({ description: 'Your unique ID' }),
      'Null if you did not ask for it',
    ),
    requested_by: OneOf(
      REFUND_REQUESTERS,
      'Who asked for it: you, the operator of the gateway, or the provider by itself',
    ),
    amount: AmountText('What the customer gets back'),
    currency: CurrencyCode,
    balance_debit: AmountText(
      'What your balance pays: the amount less fee_returned. Zero after a failure, because it was returned',
    ),
    fee_returned: AmountText('The part of our fee that we return'),
    awaits_second_person: AwaitsSecondPerson,
    awaits_address: Type.Boolean({
      description:
        'The customer has not named an address yet. The money is taken from your balance, and you can cancel the refund',
    }),
    address_until: OrNull(
      Timestamp('Until then the customer can name an address'),
      'Null if the provider sends the money to who paid',
    ),
    payout_id: OrNull(
      Id('payout'),
      'The payout that sends the money. Null before the customer has named an address, and if the provider sends it',
    ),
    destination: OrNull(
      Shape(
        {
          type: OneOf(DESTINATION_TYPES, 'The type of destination'),
          value: Type.String({ description: 'The address' }),
          memo: OrNull(Type.String({ maxLength: 64 }), 'The memo or destination tag'),
        },
        'Where the money goes',
      ),
      'Null if the provider decides where the money goes',
    ),
    reason: OrNull(Type.String({ maxLength: 255 }), 'Your reason'),
    failure_reason: OrNull(Type.String(), 'Set when the status is failed'),
    created_at: Timestamp('The time of creation'),
    completed_at: OrNull(Timestamp('The time of completion'), 'Null until completion'),
  },
  'A refund of a payment',
);
export type RefundObject = Static<typeof RefundObject>;

const EXAMPLE: RefundObject = {
  id: 'rf_01M7YESA634WQFACSBWYSTKM76',
  object: 'refund',
  mode: 'test',
  status: 'pending',
  payment_id: 'pay_01M7YESA634WQFACSBWYSTKM76',
  reference: 'return-118',
  requested_by: 'merchant',
  amount: '25.00000000',
  currency: 'USDT',
  balance_debit: '24.75000000',
  fee_returned: '0.25000000',
  awaits_second_person: false,
  awaits_address: true,
  address_until: '2026-12-21T09:12:44.018Z',
  payout_id: null,
  destination: null,
  reason: 'One of two lamps was broken',
  failure_reason: null,
  created_at: '2026-11-21T09:12:44.018Z',
  completed_at: null,
};

const CANCELLED: RefundObject = {
  ...EXAMPLE,
  status: 'failed',
  balance_debit: '0.00000000',
  fee_returned: '0.00000000',
  awaits_address: false,
  failure_reason: 'The refund was taken back before anything was sent.',
};

const REQUEST_EXAMPLES = {
  part: { amount: '25', reference: 'return-118', reason: 'One of two lamps was broken' },
  everything: { reference: 'return-119' },
  to_an_address: {
    amount: '25',
    reference: 'return-120',
    destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  },
} satisfies Record<string, Static<typeof RefundBody>>;

/** The operations of refunds. */
export const REFUND_OPERATIONS = operations([
  {
    id: 'createRefund',
    method: 'post',
    path: '/payments/{id}/refunds',
    tag: 'Refunds',
    summary: 'Refund a payment',
    description:
      'Takes the money from your balance at once. Without an amount it refunds everything that is left. A provider that knows who paid sends the money back. Where it cannot, as on blockchains, the refund `awaits_address`: the customer gets a link to name an address, and a payout sends the money there under the rules of your payouts. This needs the scope `refunds:write`. If the refund fails or is cancelled, the money returns to your balance. In test mode a destination can stand for the customer’s answer; it also needs `payouts:write`.',
    scope: 'payments:write',
    parameters: [idOf('payment'), IDEMPOTENCY_KEY],
    body: { schema: RefundBody, examples: REQUEST_EXAMPLES },
    success: created(RefundObject, EXAMPLE),
    errors: [
      ...CREATION_ERRORS,
      'not_found',
      'invalid_state',
      'insufficient_balance',
      'refund_exceeds_payment',
      'limit_exceeded',
      'currency_not_allowed',
      'recipient_required',
    ],
  },
  {
    id: 'listPaymentRefunds',
    method: 'get',
    path: '/payments/{id}/refunds',
    tag: 'Refunds',
    summary: 'List the refunds of a payment',
    description:
      'Returns the refunds of a payment, newest first, also those of the operator and the provider.',
    scope: 'payments:read',
    parameters: [idOf('payment'), ...listQueryOf(PAYMENT_FILTERS)],
    success: listed(RefundObject, '/payments/pay_01M7YESA634WQFACSBWYSTKM76/refunds', [EXAMPLE]),
    errors: ['not_found', 'validation_failed'],
  },
  {
    id: 'listRefunds',
    method: 'get',
    path: '/refunds',
    tag: 'Refunds',
    summary: 'List refunds',
    description: 'Returns the refunds of all payments, newest first.',
    scope: 'payments:read',
    parameters: listQueryOf(FILTERS),
    success: listed(RefundObject, '/refunds', [EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'cancelRefund',
    method: 'post',
    path: '/refunds/{id}/cancel',
    tag: 'Refunds',
    summary: 'Cancel a refund',
    description:
      'Takes back a refund that still waits for an address or a second person. It becomes failed, and its money returns to your balance.',
    scope: 'payments:write',
    parameters: [idOf('refund')],
    success: shown(RefundObject, CANCELLED),
    errors: ['not_found', 'invalid_state', 'service_unavailable'],
  },
  {
    id: 'getRefund',
    method: 'get',
    path: '/refunds/{id}',
    tag: 'Refunds',
    summary: 'Retrieve a refund',
    description: 'Returns the current state of a refund.',
    scope: 'payments:read',
    parameters: [idOf('refund')],
    success: shown(RefundObject, EXAMPLE),
    errors: ['not_found'],
  },
]);

/** A refund in API responses and webhook events (decisions/payments#refunds). */

export function presentRefund(refund: Refund): RefundObject {
  const status = refundStatus(refund.state);
  const isBack = status === 'failed';
  return {
    id: refund.id,
    object: 'refund',
    mode: refund.mode,
    status,
    payment_id: refund.paymentId,
    reference: refund.merchantReference,
    requested_by: refund.requestedBy,
    amount: refund.amount,
    currency: refund.currency,
    balance_debit: isBack ? ZERO : refund.taken,
    fee_returned: isBack ? ZERO : refund.fee,
    awaits_second_person: refund.awaitsPerson,
    awaits_address: awaitsAddress(refund),
    address_until: refund.addressUntil?.toISOString() ?? null,
    payout_id: refund.payoutId,
    destination: refund.destination,
    reason: refund.requestedBy === 'merchant' ? refund.reason : null,
    failure_reason: refund.refusal,
    created_at: refund.createdAt.toISOString(),
    completed_at:
      status === 'completed' ? (refund.endedAt ?? refund.updatedAt).toISOString() : null,
  };
}
