/**
 * Query parameters as data: what a reader checks and what openapi.json says come from the same declaration.
 * All failing parameters are named at once, also those that nobody declares (decisions/api#validation).
 */
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type FieldError, type FieldRule, validationFailed } from '../../domain/errors';
import { ISO_TIME_PATTERN, parseIsoTime } from '../../domain/iso-time';
import {
  type Amount,
  CURRENCY_PATTERN,
  parseRequestAmount,
  REQUEST_AMOUNT_PATTERN,
} from '../../domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../domain/provider-codes';
import { sendAs, shortName, unknownName } from './body';
import { CurrencyCode } from './common';

/** How a parameter is read, and how openapi.json describes it. */
export interface QueryParameter<Value> {
  schema: TSchema;
  /** A noun phrase, for the document and for the sentence "Send x as …". */
  description: string;
  /** The words for the sentence, when the description would be too long. */
  expected?: string;
  /** The rule that a value breaks for which `parse` returns undefined. */
  rule: FieldRule;
  parse(text: string): Value | undefined;
  /** The values, if it has no others. */
  values?: readonly string[];
  /** The label of its field on a page. A page has no field for a parameter without one. */
  label?: string;
}

/** The parameter with a field on the pages of its list (kit/pages/lists.tsx). */
export function onPages<Value>(label: string, parameter: QueryParameter<Value>) {
  return { ...parameter, label };
}

/** The parameters of an operation by name. */
export type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** The query as Koa parses it: a parameter that is given twice is an array. */
export type Query = Readonly<Record<string, string | string[] | undefined>>;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The values of the parameters that were given. */
export type Values<Parameters extends QueryParameters> = Partial<AllValues<Parameters>>;

type AllValues<Parameters extends QueryParameters> = {
  [Name in keyof Parameters & string as CamelCase<Name>]: ValueOf<Parameters[Name]>;
};

type ValueOf<Parameter> = Parameter extends QueryParameter<infer Value> ? Value : never;

/** The parameters of every list, beside its filters. */
export interface ListQuery {
  limit: number;
  cursor: string | undefined;
  /** The filters' own texts, for the link to the next page and the cursor's signature. */
  filterTexts: Record<string, string>;
}

const DEFAULT_LIMIT = 25;
const LIMIT = /^(100|[1-9][0-9]?)$/;

const LIMIT_PARAMETER: QueryParameter<number> = {
  schema: Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_LIMIT }),
  description: 'Number of objects per page',
  expected: 'A whole number from 1 to 100',
  rule: 'format',
  parse: (text) => (LIMIT.test(text) ? (Value.Convert(Type.Integer(), text) as number) : undefined),
};

const CURSOR_PARAMETER: QueryParameter<string> = {
  schema: Type.String({ pattern: '^[A-Za-z0-9_-]+$' }),
  description: 'meta.next_cursor of the previous page, with the same filters',
  rule: 'format',
  parse: (text) => text,
};

/** The parameters that follow the filters of every list. */
export const PAGE_PARAMETERS = { limit: LIMIT_PARAMETER, cursor: CURSOR_PARAMETER };

/** @throws ApiError validation_failed with every failing parameter */
export function readListQuery<Filters extends QueryParameters>(
  filters: Filters,
  query: Query,
): ListQuery & { filters: Values<Filters> } {
  const found = read(filters, query);
  const page = read(PAGE_PARAMETERS, query);
  const known = [...Object.keys(filters), ...Object.keys(PAGE_PARAMETERS)];
  refuse([...found.errors, ...page.errors, ...unknownErrors(query, known)]);
  const { limit = DEFAULT_LIMIT, cursor } = page.values as Values<typeof PAGE_PARAMETERS>;
  return { filters: found.values as Values<Filters>, limit, cursor, filterTexts: found.texts };
}

/**
 * Reads a query without pages.
 * @throws ApiError validation_failed with every failing parameter
 */
export function readQuery<Required extends QueryParameters, Optional extends QueryParameters>(
  required: Required,
  query: Query,
  optional: Optional = {} as Optional,
): AllValues<Required> & Values<Optional> {
  const parameters = { ...required, ...optional };
  const { values, errors } = read(parameters, query);
  const missing = Object.entries(required)
    .filter(([name]) => query[name] === undefined)
    .map(([name, parameter]) => fieldError(name, 'required', parameter));
  refuse([...errors, ...missing, ...unknownErrors(query, Object.keys(parameters))]);
  return values as AllValues<Required> & Values<Optional>;
}

/**
 * Refuses all parameters, for an operation without any. @throws ApiError validation_failed with every
 * parameter
 */
export function refuseParameters(query: Query): void {
  refuse(unknownErrors(query, []));
}

/** More than a person can correct at once. */
const UNKNOWN_MAX = 100;

/**
 * Unknown parameters are errors: a misspelt one would do nothing, and its answer would look right.
 */
function unknownErrors(query: Query, known: readonly string[]): FieldError[] {
  return Object.keys(query)
    .filter((name) => !known.includes(name))
    .slice(0, UNKNOWN_MAX)
    .map((name) => unknownName('parameter', shortName(name), known));
}

function read(parameters: QueryParameters, query: Query) {
  const values: Record<string, unknown> = {};
  const texts: Record<string, string> = {};
  const errors: FieldError[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    const given = query[name];
    if (given === undefined) continue;
    const text = Type.IsArray(parameter.schema) ? String(given) : given;
    if (Array.isArray(text)) {
      errors.push({ field: name, rule: 'format', message: `Send ${name} only once.` });
      continue;
    }
    texts[name] = text;
    const value = parameter.parse(text);
    if (value === undefined) errors.push(fieldError(name, parameter.rule, parameter));
    else values[camelCase(name)] = value;
  }
  return { values, texts, errors };
}

function fieldError(
  field: string,
  rule: FieldRule,
  { description, expected }: QueryParameter<unknown>,
): FieldError {
  return { field, rule, message: sendAs(field, expected ?? description) };
}

function refuse(errors: FieldError[]): void {
  if (errors.length > 0) throw validationFailed(errors);
}

/** `created_from` is `createdFrom`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A parameter whose text has this form. */
export function matching(pattern: RegExp, description: string): QueryParameter<string> {
  return {
    schema: Type.String({ pattern: pattern.source }),
    description,
    rule: 'format',
    parse: (text) => (pattern.test(text) ? text : undefined),
  };
}

/** A parameter with one of these values. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  rule: FieldRule = 'unsupported',
): QueryParameter<Value> {
  return {
    schema: Type.Enum([...values]),
    description: `One of ${values.join(', ')}`,
    rule,
    values,
    parse: (text) => values.find((value) => value === text),
  };
}

/** A list of known values: separated by commas, or in several parameters of one name. */
export function someOf<Value extends string>(values: readonly Value[]): QueryParameter<Value[]> {
  return {
    schema: Type.Array(Type.Unsafe<Value>({ type: 'string', enum: [...values] }), { minItems: 1 }),
    description: `A list of ${values.join(', ')}, separated by commas or in several parameters`,
    rule: 'unsupported',
    values,
    parse: (text) => {
      const wanted = new Set(text.split(','));
      const known = values.filter((value) => wanted.has(value));
      return known.length === wanted.size ? known : undefined;
    },
  };
}

/** @param bound which end of the day a bare date means */
function timeParameter(bound: 'from' | 'to', description: string): QueryParameter<string> {
  return {
    schema: Type.String({
      pattern: ISO_TIME_PATTERN,
      examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
    }),
    description: `${description}; a date without a time means the whole UTC day`,
    expected:
      'An ISO 8601 date, or a time with a time zone, such as "2026-01-31" or "2026-01-31T12:00:00Z"',
    rule: 'format',
    parse: (text) => parseIsoTime(text, bound) ?? undefined,
  };
}

/** The parameters `created_from` and `created_to` of lists. */
export const CREATED = {
  created_from: timeParameter('from', 'The earliest time of creation'),
  created_to: timeParameter('to', 'The latest time of creation'),
};

/** The parameter `currency`. */
export const CURRENCY: QueryParameter<string> = {
  ...matching(new RegExp(CURRENCY_PATTERN), 'A currency code in capital letters, such as "USDT"'),
  schema: CurrencyCode,
};

/** The parameter `provider`. */
export const PROVIDER: QueryParameter<ProviderCode> = oneOf(PROVIDER_CODES, 'unknown_provider');

/** The parameter `amount`. */
export const AMOUNT: QueryParameter<Amount> = {
  schema: Type.String({
    pattern: REQUEST_AMOUNT_PATTERN,
    not: { pattern: '^[0.]*$' },
    examples: ['125.50'],
  }),
  description: 'A decimal greater than zero with at most 8 decimals, such as "125.50"',
  rule: 'format',
  parse: (text) => parseRequestAmount(text) ?? undefined,
};
