/**
 * Transactions on the wire (the specification, "Transaction object"; decisions/money#ledger and decisions/api#lists).
 */
import { type Static, Type } from 'typebox';
import { TRANSACTION_TYPES } from '../../domain/ledger';
import {
  AmountText,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import { idOf, listed, listQueryOf, shown, operations } from '../../kit/api/operation';
import { CREATED, CURRENCY, matching, oneOf, type Query, readListQuery } from '../../kit/api/query';

const TransactionType = OneOf(TRANSACTION_TYPES, 'The type of transaction');

const FILTERS = {
  currency: CURRENCY,
  type: oneOf(TRANSACTION_TYPES),
  source_id: matching(
    /^(pay|po|adj)_[0-9A-HJKMNP-TV-Z]{26}$/,
    'The ID of a payment, payout or adjustment',
  ),
  ...CREATED,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readTransactionQuery(query: Query) {
  return readListQuery(FILTERS, query);
}

/** A ledger transaction with the merchant's entries (the specification, "Transaction object"). */
export const TransactionObject = Shape(
  {
    id: Id('transaction'),
    object: Type.Literal('transaction'),
    mode: ModeName,
    type: TransactionType,
    currency: CurrencyCode,
    description: Type.String(),
    source: Shape(
      {
        object: OneOf(['payment', 'payout', 'adjustment'], 'The type of object'),
        id: Type.String(),
      },
      'The object that caused the transaction',
    ),
    entries: Type.Array(
      Shape(
        {
          balance: OneOf(['available', 'reserved'], 'The balance that changed'),
          direction: OneOf(['in', 'out'], 'Into or out of the balance'),
          amount: AmountText('The amount'),
          balance_after: AmountText('The balance after this entry'),
        },
        'A change of one balance',
      ),
      { minItems: 1 },
    ),
    posted_at: Timestamp('The time of posting'),
  },
  'A ledger transaction',
);
export type TransactionObject = Static<typeof TransactionObject>;

const EXAMPLE: TransactionObject = {
  id: 'txn_01M7YESA6JGXFEX3057F2JK1YJ',
  object: 'transaction',
  mode: 'live',
  type: 'payout_reserve',
  currency: 'USDT',
  description: 'Payout invoice-2031: funds reserved',
  source: { object: 'payout', id: 'po_01M7YESA634WQFACSBWYSTKM76' },
  entries: [
    {
      balance: 'available',
      direction: 'out',
      amount: '10101.00000000',
      balance_after: '19899.00000000',
    },
    {
      balance: 'reserved',
      direction: 'in',
      amount: '10101.00000000',
      balance_after: '10101.00000000',
    },
  ],
  posted_at: '2026-11-21T07:05:30.633Z',
};

/** The operations of /transactions. */
export const TRANSACTION_OPERATIONS = operations([
  {
    id: 'listTransactions',
    method: 'get',
    path: '/transactions',
    tag: 'Money',
    summary: 'List transactions',
    description: 'Returns the ledger history: everything that changed a balance, newest first.',
    scope: 'payments:read',
    parameters: listQueryOf(FILTERS),
    success: listed(TransactionObject, '/transactions', [EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getTransaction',
    method: 'get',
    path: '/transactions/{id}',
    tag: 'Money',
    summary: 'Retrieve a transaction',
    description: 'Returns one transaction of the ledger: what changed, and the balances after it.',
    scope: 'payments:read',
    parameters: [idOf('transaction')],
    success: shown(TransactionObject, EXAMPLE),
    errors: ['not_found'],
  },
]);
