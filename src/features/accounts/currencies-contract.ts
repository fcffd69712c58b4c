/**
 * Providers and currencies on the wire (the specification, "Resources"; decisions/money#currencies and
 * decisions/money#capabilities).
 */
import { type Static, Type } from 'typebox';
import { AmountText, CurrencyCode, OrNull, ProviderName, Shape } from '../../kit/api/common';
import { DirectionName } from './fees-contract';
import { operations } from '../../kit/api/operation';

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
    refund_destination_types: Type.Array(Type.String(), {
      description:
        'The types of address that a refund needs, which the customer names. Empty: the provider refunds to who paid',
    }),
    partial_payments: Type.Boolean(),
    checkout_ttl_seconds: OrNull(Type.Integer(), 'Null if the provider has no time limit'),
  },
  'The capabilities of the provider',
);

/** The answer of GET /currencies. */
export const CurrencyList = Shape(
  {
    object: Type.Literal('list'),
    providers: Type.Array(
      Shape(
        {
          code: ProviderName,
          name: Type.String({ description: 'Display name' }),
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
          direction: DirectionName,
          currency: CurrencyCode,
          network: Type.String({ description: 'internal for transfers within the provider' }),
          min_amount: AmountText('The minimum amount'),
          max_amount: OrNull(AmountText('The maximum amount'), 'Null if there is no maximum'),
        },
        'A currency that the provider supports on a network',
      ),
    ),
  },
  'The supported providers, currencies and networks',
);
export type CurrencyList = Static<typeof CurrencyList>;

const EXAMPLE: CurrencyList = {
  object: 'list',
  providers: [
    {
      code: 'onchain_provider',
      name: 'On-chain',
      pay_in: true,
      pay_out: true,
      capabilities: {
        pay_in: true,
        pay_out: true,
        destination_types: ['crypto_address'],
        network_required: true,
        memo_supported: true,
        network_fee_estimate: true,
        tx_hash: true,
        refunds: true,
        refund_destination_types: ['crypto_address'],
        partial_payments: true,
        checkout_ttl_seconds: 3600,
      },
    },
  ],
  data: [
    {
      provider: 'onchain_provider',
      direction: 'payout',
      currency: 'USDT',
      network: 'tron',
      min_amount: '1.00000000',
      max_amount: null,
    },
  ],
};

/** The operations of /currencies. */
export const CURRENCY_OPERATIONS = operations([
  {
    id: 'listCurrencies',
    method: 'get',
    path: '/currencies',
    tag: 'Catalogue',
    summary: 'List providers, currencies and networks',
    description:
      'Returns the supported currencies and networks of each enabled provider, with the minimum and maximum amounts.',
    scope: null,
    parameters: [],
    success: { status: 200, schema: CurrencyList, example: EXAMPLE },
    errors: [],
  },
]);
