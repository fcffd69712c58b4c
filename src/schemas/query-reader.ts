/**
 * Reads query parameters and collects what is wrong with them, so that a client learns of
 * everything at once (decision W7). Parameters that nobody asks for pass (decision W13).
 */
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type FieldError, type FieldRule, validationFailed } from '../domain/errors';
import { type Amount, parseRequestAmount, ZERO } from '../domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../domain/provider-codes';
import { CURRENCY } from './fields';
import { parseIsoTime } from './iso-time';

export type Query = Readonly<Record<string, string | string[] | undefined>>;

/** What every list takes beside its filters. */
export interface ListQuery {
  limit: number;
  cursor: string | undefined;
  /** The filters' own texts, for the link to the next page and the cursor's signature. */
  filterTexts: Record<string, string>;
}

const DEFAULT_LIMIT = 25;
const LIMIT = /^(100|[1-9][0-9]?)$/;

export class QueryReader {
  readonly #query: Query;
  readonly #errors: FieldError[] = [];
  readonly #texts: Record<string, string> = {};

  constructor(query: Query) {
    this.#query = query;
  }

  /** A parameter as it was sent; one that was given twice has no one meaning. */
  text(name: string): string | undefined {
    const value = this.#query[name];
    if (Array.isArray(value)) {
      this.refuse(name, 'format', `Send ${name} once.`);
      return undefined;
    }
    if (value !== undefined) this.#texts[name] = value;
    return value;
  }

  required(name: string, what: string): string | undefined {
    const value = this.text(name);
    if (value === undefined && !Array.isArray(this.#query[name])) {
      this.refuse(name, 'required', `Send ${name} as ${what}.`);
    }
    return value;
  }

  matching(name: string, pattern: RegExp, what: string): string | undefined {
    return this.#checked(name, this.text(name), pattern, what);
  }

  currency(name = 'currency'): string | undefined {
    return this.#checked(name, this.text(name), new RegExp(CURRENCY), A_CURRENCY);
  }

  requiredCurrency(name = 'currency'): string | undefined {
    return this.#checked(name, this.required(name, A_CURRENCY), new RegExp(CURRENCY), A_CURRENCY);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    return this.#known(name, this.text(name), values, 'unsupported');
  }

  requiredOneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.required(name, `one of ${values.join(', ')}`);
    return this.#known(name, text, values, 'unsupported');
  }

  provider(name = 'provider'): ProviderCode | undefined {
    return this.#known(name, this.text(name), PROVIDER_CODES, 'unknown_provider');
  }

  requiredProvider(name = 'provider'): ProviderCode | undefined {
    const text = this.required(name, `one of ${PROVIDER_CODES.join(', ')}`);
    return this.#known(name, text, PROVIDER_CODES, 'unknown_provider');
  }

  /** A comma list of known values. */
  someOf<T extends string>(name: string, values: readonly T[]): T[] | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const wanted = new Set(text.split(','));
    const known = values.filter((value) => wanted.has(value));
    if (known.length !== wanted.size) {
      this.refuse(name, 'unsupported', `Send ${name} as a comma list of ${values.join(', ')}.`);
    }
    return known;
  }

  /** @param bound which end of the day a bare date means */
  time(name: string, bound: 'from' | 'to'): string | undefined {
    const text = this.text(name);
    const time = text === undefined ? undefined : parseIsoTime(text, bound);
    if (time === null) {
      const example = '"2026-01-31" or "2026-01-31T12:00:00Z"';
      this.refuse(
        name,
        'format',
        `Send ${name} as an ISO 8601 date or time with a zone: ${example}.`,
      );
    }
    return time ?? undefined;
  }

  requiredAmount(name: string): Amount {
    const what = 'a decimal greater than zero with at most 8 decimals, such as "125.50"';
    const text = this.required(name, what);
    const amount = text === undefined ? null : parseRequestAmount(text);
    if (text !== undefined && amount === null)
      this.refuse(name, 'format', `Send ${name} as ${what}.`);
    return amount ?? ZERO;
  }

  /** Reads what every list takes; after the filters, whose texts it gives on. */
  list(): ListQuery {
    const filterTexts = { ...this.#texts };
    const limit = this.text('limit') ?? String(DEFAULT_LIMIT);
    if (!LIMIT.test(limit)) {
      this.refuse('limit', 'format', 'Send limit as a whole number from 1 to 100.');
    }
    const cursor = this.text('cursor');
    this.throwIfFaulty();
    return { limit: Value.Convert(Type.Integer(), limit) as number, cursor, filterTexts };
  }

  refuse(field: string, rule: FieldRule, message: string): void {
    this.#errors.push({ field, rule, message });
  }

  /** @throws ApiError validation_failed with every failing parameter */
  throwIfFaulty(): void {
    if (this.#errors.length > 0) throw validationFailed(this.#errors);
  }

  #checked(
    name: string,
    text: string | undefined,
    pattern: RegExp,
    what: string,
  ): string | undefined {
    if (text !== undefined && !pattern.test(text)) {
      this.refuse(name, 'format', `Send ${name} as ${what}.`);
    }
    return text;
  }

  #known<T extends string>(
    name: string,
    text: string | undefined,
    values: readonly T[],
    rule: FieldRule,
  ): T | undefined {
    const known = values.find((value) => value === text);
    if (text !== undefined && known === undefined) {
      this.refuse(name, rule, `Send ${name} as one of ${values.join(', ')}.`);
    }
    return known;
  }
}

const A_CURRENCY = 'a code in capital letters, such as "USDT"';

/** The members that were given: an absent filter must be absent, not undefined. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as never;
}
