/** Fee rules and fee quotes on the wire (the specification, "Fee rule"; decisions/money#service-fees). */
import { type Static, Type } from 'typebox';
import { DIRECTIONS, type FeeQuoteRequest } from '../../domain/fees';
import { AmountText, CurrencyCode, OneOf, OrNull, ProviderName, Shape } from '../../kit/api/common';
import { queryOf, operations } from '../../kit/api/operation';
import { AMOUNT, CURRENCY, oneOf, PROVIDER, type Query, readQuery } from '../../kit/api/query';

/** The direction of a fee rule. */
export const DirectionName = OneOf(DIRECTIONS, 'payin for payments, payout for payouts');

const QUOTE = {
  direction: oneOf(DIRECTIONS),
  provider: PROVIDER,
  currency: CURRENCY,
  amount: AMOUNT,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readFeeQuoteQuery(query: Query): FeeQuoteRequest {
  return readQuery(QUOTE, query);
}

/** A fee rule (the specification, "Fee rule"). */
export const FeeRuleObject = Shape(
  {
    direction: DirectionName,
    provider: ProviderName,
    currency: CurrencyCode,
    percentage: Type.String({ pattern: '^[0-9]{1,3}\\.[0-9]{4}$', description: 'In percent' }),
    fixed_amount: AmountText('Added to the percentage'),
    min_fee: OrNull(AmountText('The minimum fee'), 'Null if there is no minimum'),
    max_fee: OrNull(AmountText('The maximum fee'), 'Null if there is no maximum'),
  },
  'A fee rule in force',
);

/** The answer of GET /fees. */
export const FeeList = Shape(
  { object: Type.Literal('list'), data: Type.Array(FeeRuleObject) },
  'One rule for each enabled provider, direction and currency',
);
export type FeeList = Static<typeof FeeList>;

/** A fee quote (the specification, "Fee quote"). */
export const FeeQuoteObject = Shape(
  {
    object: Type.Literal('fee_quote'),
    direction: DirectionName,
    provider: ProviderName,
    currency: CurrencyCode,
    amount: AmountText('The amount of the quote'),
    service_fee: AmountText('Our fee on the amount'),
    net_amount: OrNull(AmountText('The amount less the fee'), 'Null for payouts'),
    note: OrNull(Type.String(), 'For payouts: a network fee may be added'),
  },
  'A fee quote',
);
export type FeeQuoteObject = Static<typeof FeeQuoteObject>;

const FEES_EXAMPLE: FeeList = {
  object: 'list',
  data: [
    {
      direction: 'payout',
      provider: 'onchain_provider',
      currency: 'USDT',
      percentage: '1.0000',
      fixed_amount: '0.00000000',
      min_fee: null,
      max_fee: null,
    },
  ],
};

const QUOTE_EXAMPLE: FeeQuoteObject = {
  object: 'fee_quote',
  direction: 'payout',
  provider: 'onchain_provider',
  currency: 'USDT',
  amount: '10000.00000000',
  service_fee: '100.00000000',
  net_amount: null,
  note: 'The fee is added on top of the amount. A provider network fee may be added when the payout is created.',
};

/** The operations of /fees. */
export const FEE_OPERATIONS = operations([
  {
    id: 'listFees',
    method: 'get',
    path: '/fees',
    tag: 'Catalogue',
    summary: 'List fee rules',
    description:
      'Returns the fee rules of your account: one for each enabled provider, direction and currency.',
    scope: null,
    parameters: [],
    success: { status: 200, schema: FeeList, example: FEES_EXAMPLE },
    errors: [],
  },
  {
    id: 'quoteFee',
    method: 'get',
    path: '/fees/quote',
    tag: 'Catalogue',
    summary: 'Quote a fee',
    description:
      'Returns the fee for an amount: the percentage plus the fixed amount, at least min_fee and at most max_fee. The quote is not wrapped in data.',
    scope: null,
    parameters: queryOf(QUOTE, true),
    success: { status: 200, schema: FeeQuoteObject, example: QUOTE_EXAMPLE },
    errors: ['validation_failed'],
  },
]);
