/** The checks of an operator's input that several nouns share. */
import { listCurrencies } from '../../db/repositories/currency-routes';
import type { Db, Tx } from '../../db/transaction';
import { type Amount, parseRequestAmount, ZERO } from '../../domain/money';
import { PROVIDER_CODES } from '../../domain/provider-codes';
import { InvalidInput } from './refusal';

const NOTHING = /^0{1,18}(\.0{1,8})?$/;

/** More than zero. @throws InvalidInput */
export function positiveAmount(field: string, text: string): Amount {
  const amount = parseRequestAmount(text);
  if (amount !== null) return amount;
  throw new InvalidInput(
    field,
    `${text} is not an amount: it takes digits, at most 18 before and 8 after the point, and is ` +
      'more than zero.',
  );
}

/** Zero or more. @throws InvalidInput */
export function amountOrZero(field: string, text: string): Amount {
  if (NOTHING.test(text)) return ZERO;
  const amount = parseRequestAmount(text);
  if (amount !== null) return amount;
  throw new InvalidInput(
    field,
    `${text} is not an amount: it takes digits, at most 18 before and 8 after the point.`,
  );
}

/** @throws InvalidInput when no route of the gateway moves it */
export async function checkCurrency(db: Db | Tx, currency: string): Promise<void> {
  const known = await listCurrencies(db);
  if (known.includes(currency)) return;
  throw new InvalidInput('currency', `${currency} is none of the gateway's: ${known.join(', ')}.`);
}

/** @throws InvalidInput */
export function checkProvider(provider: string): void {
  if (PROVIDER_CODES.some((code) => code === provider)) return;
  throw new InvalidInput('provider', `${provider} does not exist: ${PROVIDER_CODES.join(', ')}.`);
}

/** Printable, not blank, at most `longest` characters. @throws InvalidInput */
export function checkText(field: string, text: string, longest: number): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidInput(field, 'is empty: write a word or a sentence.');
  if (trimmed.length > longest) {
    throw new InvalidInput(
      field,
      `has ${trimmed.length} characters: ${longest} is the most it takes.`,
    );
  }
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(trimmed)) {
    throw new InvalidInput(field, 'holds a control character or a line break: write one line.');
  }
  return trimmed;
}
