/** The operations of /payments. */
import { Type } from 'typebox';
import { PAYMENT_STATUSES } from '../domain/payment';
import { ListOf, Wrapped } from '../schemas/common';
import { PaymentBody } from '../schemas/payment';
import { PaymentObject } from '../schemas/payment-object';
import * as examples from './examples';
import {
  CREATED,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  LIST_PARAMETERS,
  type Operation,
  OWN_FILTERS,
  PAYMENT_ID,
  query,
} from './operation';

export const PAYMENT_OPERATIONS: readonly Operation[] = [
  {
    id: 'createPayment',
    method: 'post',
    path: '/payments',
    tag: 'Payments',
    summary: 'Create a payment',
    description:
      'Opens a checkout at a provider. Send your customer to checkout_url; the redirect back is no proof of payment.',
    scope: 'payments:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: PaymentBody, examples: examples.PAYMENT_REQUESTS },
    success: { status: 201, schema: Wrapped(PaymentObject), example: { data: examples.PAYMENT } },
    errors: CREATION_ERRORS,
  },
  {
    id: 'listPayments',
    method: 'get',
    path: '/payments',
    tag: 'Payments',
    summary: 'List payments',
    description: 'Newest first.',
    scope: 'payments:read',
    parameters: [
      query('status', Type.String(), `Comma list of ${PAYMENT_STATUSES.join(', ')}`),
      ...OWN_FILTERS,
      ...CREATED,
      ...LIST_PARAMETERS,
    ],
    success: { status: 200, schema: ListOf(PaymentObject), example: examples.PAYMENT_PAGE },
    errors: ['validation_failed'],
  },
  {
    id: 'getPayment',
    method: 'get',
    path: '/payments/{id}',
    tag: 'Payments',
    summary: 'Retrieve a payment',
    description: 'Reads one payment as it stands now.',
    scope: 'payments:read',
    parameters: [PAYMENT_ID],
    success: { status: 200, schema: Wrapped(PaymentObject), example: { data: examples.PAYMENT } },
    errors: ['not_found'],
  },
  {
    id: 'verifyPayment',
    method: 'post',
    path: '/payments/{id}/verify',
    tag: 'Payments',
    summary: 'Re-check an open payment with the provider',
    description: 'At most 6 times a minute for each payment.',
    scope: 'payments:write',
    parameters: [PAYMENT_ID],
    success: { status: 200, schema: Wrapped(PaymentObject), example: { data: examples.PAYMENT } },
    errors: ['not_found', 'service_unavailable'],
  },
];
