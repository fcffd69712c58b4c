/** The balance on the wire (the specification, "Balance object"). */
import { type Static, Type } from 'typebox';
import { AmountText, CurrencyCode, ModeName, Shape } from '../../kit/api/common';
import { operations } from '../../kit/api/operation';

/** The balance of one currency. */
export const BalanceObject = Shape(
  {
    object: Type.Literal('balance'),
    mode: ModeName,
    balances: Type.Array(
      Shape(
        {
          currency: CurrencyCode,
          available: AmountText('Available for payouts'),
          reserved: AmountText('Reserved for payouts that are not final'),
          pending: AmountText('Seen by a provider and not credited yet, late funds included'),
        },
        'The balance in one currency; currencies are never converted or added together',
      ),
    ),
  },
  'Balances per currency',
);
export type BalanceObject = Static<typeof BalanceObject>;

const EXAMPLE: BalanceObject = {
  object: 'balance',
  mode: 'live',
  balances: [
    {
      currency: 'USDT',
      available: '19899.00000000',
      reserved: '10101.00000000',
      pending: '0.00000000',
    },
  ],
};

/** The operations of /balance. */
export const BALANCE_OPERATIONS = operations([
  {
    id: 'getBalance',
    method: 'get',
    path: '/balance',
    tag: 'Money',
    summary: 'Retrieve the balance',
    description:
      'Returns the balance in each currency. Currencies are never converted or added together.',
    scope: 'balance:read',
    parameters: [],
    success: { status: 200, schema: BalanceObject, example: EXAMPLE },
    errors: [],
  },
]);
