/** Balances, transactions, fees and currencies as they are answered (the specification). */
import { Type } from 'typebox';
import { DIRECTIONS } from '../domain/fees';
import { TRANSACTION_TYPES } from '../domain/ledger';
import {
  AmountText,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  OrNull,
  ProviderName,
  Shape,
  Timestamp,
} from './common';

export const BalanceObject = Shape(
  {
    object: Type.Literal('balance'),
    mode: ModeName,
    balances: Type.Array(
      Shape(
        {
          currency: CurrencyCode,
          available: AmountText('Can be paid out now'),
          reserved: AmountText('Held for payouts that are not final'),
          pending: AmountText('Seen by a provider and not confirmed; not credited yet'),
        },
        'One currency; currencies are never converted or added together',
      ),
    ),
  },
  'Balances per currency',
);

const Entry = Shape(
  {
    balance: OneOf(['available', 'reserved'], 'Which balance moved'),
    direction: OneOf(['in', 'out'], 'Into the balance or out of it'),
    amount: AmountText('How much'),
    balance_after: AmountText('The balance after this entry'),
  },
  'A move of one balance',
);

export const TransactionObject = Shape(
  {
    id: Id('transaction'),
    object: Type.Literal('transaction'),
    mode: ModeName,
    type: OneOf(TRANSACTION_TYPES, 'What happened'),
    currency: CurrencyCode,
    description: Type.String(),
    source: Shape(
      {
        object: OneOf(['payment', 'payout', 'adjustment'], 'Kind of object'),
        id: Type.String(),
      },
      'What caused it',
    ),
    entries: Type.Array(Entry, { minItems: 1 }),
    posted_at: Timestamp('When it was posted'),
  },
  'An entry of the ledger',
);

const Direction = OneOf(DIRECTIONS, 'payin for payments, payout for payouts');

export const FeeRuleObject = Shape(
  {
    direction: Direction,
    provider: ProviderName,
    currency: CurrencyCode,
    percentage: Type.String({ pattern: '^[0-9]{1,3}\\.[0-9]{4}$', description: 'Per cent' }),
    fixed_amount: AmountText('Added to the percentage'),
    min_fee: OrNull(AmountText('The fee is raised to this')),
    max_fee: OrNull(AmountText('The fee is cut to this')),
  },
  'A fee rule in force',
);

export const FeeList = Shape(
  { object: Type.Literal('list'), data: Type.Array(FeeRuleObject) },
  'One rule for each enabled provider, direction and currency',
);

export const FeeQuoteObject = Shape(
  {
    object: Type.Literal('fee_quote'),
    direction: Direction,
    provider: ProviderName,
    currency: CurrencyCode,
    amount: AmountText('What was asked about'),
    service_fee: AmountText('Our fee on it'),
    net_amount: OrNull(AmountText('amount less the fee'), 'Null for payouts'),
    note: OrNull(Type.String(), 'Payouts: a network fee may be added'),
  },
  'A fee quote',
);

const Capabilities = Shape(
  {
    pay_in: Type.Boolean(),
    pay_out: Type.Boolean(),
    destination_types: Type.Array(Type.String()),
    network_required: Type.Boolean(),
    memo_supported: Type.Boolean(),
    network_fee_estimate: Type.Boolean(),
    tx_hash: Type.Boolean(),
    refunds: Type.Boolean(),
    partial_payments: Type.Boolean(),
    checkout_ttl_seconds: OrNull(Type.Integer()),
  },
  'What the provider can do',
);

export const CurrencyList = Shape(
  {
    object: Type.Literal('list'),
    providers: Type.Array(
      Shape(
        {
          code: ProviderName,
          name: Type.String({ description: 'For people' }),
          pay_in: Type.Boolean(),
          pay_out: Type.Boolean(),
          capabilities: Capabilities,
        },
        'An enabled provider',
      ),
    ),
    data: Type.Array(
      Shape(
        {
          provider: ProviderName,
          direction: Direction,
          currency: CurrencyCode,
          network: Type.String({ description: 'internal: inside the provider' }),
          min_amount: AmountText('Least amount'),
          max_amount: OrNull(AmountText('Greatest amount'), 'Null: no maximum'),
        },
        'A currency that the provider moves on a network',
      ),
    ),
  },
  'What can be moved',
);
