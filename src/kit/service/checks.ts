/** Input checks that several nouns of the admin command share. */
import { listCurrencies } from '../../db/accounts/currency-routes';
import type { Db, Tx } from '../../db/transaction';
import { type Amount, parseRequestAmount, ZERO } from '../../domain/money';
import { isPrintable } from '../../domain/printable';
import { InvalidInput } from './refusal';

/** The most characters of the reason that a person gives for a decision. */
export const REASON_LENGTH_MAX = 255;

const NOTHING = /^0{1,18}(\.0{1,8})?$/;

/** More than zero. @throws InvalidInput */
export function positiveAmount(field: string, text: string): Amount {
  const amount = parseRequestAmount(text);
  if (amount !== null) return amount;
  throw new InvalidInput(field, { code: 'not_an_amount', value: text, zeroAllowed: false });
}

/** Zero or more. @throws InvalidInput */
export function amountOrZero(field: string, text: string): Amount {
  if (NOTHING.test(text)) return ZERO;
  const amount = parseRequestAmount(text);
  if (amount !== null) return amount;
  throw new InvalidInput(field, { code: 'not_an_amount', value: text, zeroAllowed: true });
}

/** @throws InvalidInput when no route supports the currency */
export async function checkCurrency(
  db: Db | Tx,
  currency: string,
  field = 'currency',
): Promise<void> {
  const supported = await listCurrencies(db);
  if (supported.includes(currency)) return;
  throw new InvalidInput(field, { code: 'unsupported_currency', value: currency, supported });
}

/** Printable, not blank, at most `max` characters. @throws InvalidInput */
export function checkText(field: string, text: string, max: number): string {
  const trimmed = text.trim();
  const { length } = trimmed;
  if (length === 0) throw new InvalidInput(field, { code: 'empty' });
  if (length > max) throw new InvalidInput(field, { code: 'too_long', length, max });
  if (!isPrintable(trimmed)) throw new InvalidInput(field, { code: 'not_printable' });
  return trimmed;
}

/** @throws InvalidInput */
export function checkReason(text: string): string {
  return checkText('reason', text, REASON_LENGTH_MAX);
}
