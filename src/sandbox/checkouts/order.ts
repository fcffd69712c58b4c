/** The members of a checkout's order that both providers read in the same way. */
import type { BookMode } from '../config';
import { readOptionalText, readOptionalUrl, readText, type JsonObject } from '../request-body';
import type { CheckoutOrder } from './checkout';
import { readCheckoutScenario } from './scenarios';

const DESCRIPTION_LENGTH_MAX = 255;

type Names = Record<'successUrl' | 'cancelUrl' | 'description', string>;
type CommonMembers = Pick<CheckoutOrder, 'successUrl' | 'cancelUrl' | 'description' | 'scenario'>;

/** Null when a member has a wrong form. */
export function readCommonMembers(
  body: JsonObject,
  mode: BookMode,
  names: Names,
): CommonMembers | null {
  const successUrl = readOptionalUrl(body, names.successUrl);
  const cancelUrl = readOptionalUrl(body, names.cancelUrl);
  const description = readOptionalText(body, names.description, DESCRIPTION_LENGTH_MAX);
  if (successUrl === undefined || cancelUrl === undefined || description === undefined) return null;
  // Live mode plays nothing, and a name that means nothing here may mean something to its owner.
  const scenario = mode === 'test' ? readCheckoutScenario(readText(body, 'scenario')) : null;
  return { successUrl, cancelUrl, description, scenario };
}

/** The time as the book writes it; null when it is none. */
export function normalizeTime(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
