/** JSON numbers before validation (decision W1). */
import { isLosslessNumber } from 'lossless-json';
import { plainDecimal } from '../domain/money';

/**
 * The body with a number for `amount` turned into plain decimal text of the same digits. Any other
 * number stays one, for the type rule to refuse: NaN for all, as nobody will look at their value.
 */
export function amountAsText(json: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { amount } = json;
  const body = withPlainNumbers(json);
  return isLosslessNumber(amount) ? { ...body, amount: plainDecimal(amount.value) } : body;
}

function withPlainNumbers(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, plainNumbers(value)]),
  );
}

function plainNumbers(value: unknown): unknown {
  if (isLosslessNumber(value)) return NaN;
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return withPlainNumbers(value as Record<string, unknown>);
}
