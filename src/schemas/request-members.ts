/** Members that the bodies of payments and payouts share (the specification; decisions P1, W1). */
import { Type } from 'typebox';
import { parseRequestAmount } from '../domain/money';
import { CURRENCY, STORABLE_TEXT } from './fields';

const ZERO_AMOUNT = /^0+(\.0+)?$/;

export const RequestAmount = Type.Refine(
  Type.String({
    description:
      'a decimal string greater than zero, with at most 18 digits before and 8 after the point, such as "125.50"',
  }),
  (text) => parseRequestAmount(text) !== null,
  (text) => (ZERO_AMOUNT.test(text) ? 'min_amount' : 'format'),
);

export const RequestCurrency = Type.String({
  pattern: CURRENCY,
  description: 'a currency code in capital letters, such as "USDT"',
});

export const RequestMetadata = Type.Optional(
  Type.Record(
    Type.String(),
    Type.String({
      maxLength: 500,
      pattern: STORABLE_TEXT,
      description: 'text of at most 500 characters without NUL, under a name without NUL',
    }),
    {
      maxProperties: 20,
      propertyNames: Type.String({ minLength: 1, maxLength: 40, pattern: STORABLE_TEXT }),
      description: 'an object of at most 20 strings, or leave it out',
    },
  ),
);
