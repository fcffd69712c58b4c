/**
 * The API's operations as data: openapi.json is built from here, and a test compares the list with
 * the router's paths.
 */
import { Type } from 'typebox';
import { DIRECTIONS } from '../domain/fees';
import { TRANSACTION_TYPES } from '../domain/ledger';
import { PAYOUT_STATUSES } from '../domain/payout';
import { CurrencyCode, ListOf, OneOf, ProviderName, Wrapped } from '../schemas/common';
import {
  BalanceObject,
  CurrencyList,
  FeeList,
  FeeQuoteObject,
  TransactionObject,
} from '../schemas/money-objects';
import { PayoutBody } from '../schemas/payout';
import { PayoutObject } from '../schemas/payout-object';
import * as examples from './examples';
import {
  CREATED,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  LIST_PARAMETERS,
  type Operation,
  OWN_FILTERS,
  PAYOUT_ID,
  query,
} from './operation';
import { PAYMENT_OPERATIONS } from './payment-operations';

export const OPERATIONS: readonly Operation[] = [
  ...PAYMENT_OPERATIONS,
  {
    id: 'createPayout',
    method: 'post',
    path: '/payouts',
    tag: 'Payouts',
    summary: 'Request a payout',
    description:
      'Reserves amount plus fees at once. A live payout may wait for an operator before it goes to the provider. Send it again with the same Idempotency-Key after a time-out or a 5xx.',
    scope: 'payouts:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: PayoutBody, examples: examples.PAYOUT_REQUESTS },
    success: { status: 201, schema: Wrapped(PayoutObject), example: { data: examples.PAYOUT } },
    errors: [
      ...CREATION_ERRORS,
      'insufficient_balance',
      'destination_not_supported',
      'network_required',
      'limit_exceeded',
    ],
  },
  {
    id: 'listPayouts',
    method: 'get',
    path: '/payouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Newest first.',
    scope: 'payouts:read',
    parameters: [
      query('status', Type.String(), `Comma list of ${PAYOUT_STATUSES.join(', ')}`),
      ...OWN_FILTERS,
      ...CREATED,
      ...LIST_PARAMETERS,
    ],
    success: { status: 200, schema: ListOf(PayoutObject), example: examples.PAYOUT_PAGE },
    errors: ['validation_failed'],
  },
  {
    id: 'getPayout',
    method: 'get',
    path: '/payouts/{id}',
    tag: 'Payouts',
    summary: 'Retrieve a payout',
    description: 'Reads one payout as it stands now.',
    scope: 'payouts:read',
    parameters: [PAYOUT_ID],
    success: { status: 200, schema: Wrapped(PayoutObject), example: { data: examples.PAYOUT } },
    errors: ['not_found'],
  },
  {
    id: 'cancelPayout',
    method: 'post',
    path: '/payouts/{id}/cancel',
    tag: 'Payouts',
    summary: 'Cancel a payout before approval',
    description: 'While it is requested or under_review. The funds are returned at once.',
    scope: 'payouts:write',
    parameters: [PAYOUT_ID],
    success: {
      status: 200,
      schema: Wrapped(PayoutObject),
      example: { data: { ...examples.PAYOUT, status: 'cancelled' } },
    },
    errors: ['not_found', 'invalid_state', 'service_unavailable'],
  },
  {
    id: 'getBalance',
    method: 'get',
    path: '/balance',
    tag: 'Money',
    summary: 'Balances per currency',
    description: 'Currencies are never converted or added together.',
    scope: 'balance:read',
    parameters: [],
    success: { status: 200, schema: BalanceObject, example: examples.BALANCE },
    errors: [],
  },
  {
    id: 'listTransactions',
    method: 'get',
    path: '/transactions',
    tag: 'Money',
    summary: 'Ledger history',
    description: 'Everything that moved a balance, newest first.',
    scope: 'payments:read',
    parameters: [
      query('currency', CurrencyCode, 'Currency code'),
      query('type', OneOf(TRANSACTION_TYPES, 'What happened'), 'What happened'),
      query('source_id', Type.String(), 'The payment, payout or adjustment that caused it'),
      ...CREATED,
      ...LIST_PARAMETERS,
    ],
    success: { status: 200, schema: ListOf(TransactionObject), example: examples.TRANSACTION_PAGE },
    errors: ['validation_failed'],
  },
  {
    id: 'listFees',
    method: 'get',
    path: '/fees',
    tag: 'Catalogue',
    summary: 'Fee rules that apply to the account',
    description: 'One rule for each enabled provider, direction and currency.',
    scope: null,
    parameters: [],
    success: { status: 200, schema: FeeList, example: examples.FEES },
    errors: [],
  },
  {
    id: 'quoteFee',
    method: 'get',
    path: '/fees/quote',
    tag: 'Catalogue',
    summary: 'Fee for an amount',
    description:
      'The fee is percentage and fixed amount together, raised to min_fee, then cut to max_fee.',
    scope: null,
    parameters: [
      query('direction', OneOf(DIRECTIONS, 'payin or payout'), 'payin or payout', true),
      query('provider', ProviderName, 'Provider code', true),
      query('currency', CurrencyCode, 'Currency code', true),
      query('amount', Type.String({ examples: ['125.50'] }), 'Decimal, more than zero', true),
    ],
    success: { status: 200, schema: FeeQuoteObject, example: examples.FEE_QUOTE },
    errors: ['validation_failed'],
  },
  {
    id: 'listCurrencies',
    method: 'get',
    path: '/currencies',
    tag: 'Catalogue',
    summary: 'Providers, currencies and networks',
    description: 'What can be paid in and out, with the least and greatest amounts.',
    scope: null,
    parameters: [],
    success: { status: 200, schema: CurrencyList, example: examples.CURRENCIES },
    errors: [],
  },
];
