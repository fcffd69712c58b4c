/**
 * How a request's body is read (decisions/money#amounts and decisions/api#validation): amounts keep their digits,
 * null counts as absent for an optional field, and every failing field is named at once. The sentences come
 * from the `description` of the schemas, which are noun phrases.
 */
import { isLosslessNumber } from 'lossless-json';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { type FieldError, type FieldRule, validationFailed } from '../../domain/errors';
import { CURRENCY_PATTERN, parseRequestAmount, plainDecimal } from '../../domain/money';
import { isReadable } from '../../domain/printable';
import { PROVIDER_CODES } from '../../domain/provider-codes';

/** A parsed body; its numbers are LosslessNumber. */
export type Json = Readonly<Record<string, unknown>>;

/** Texts that PostgreSQL can store: no NUL, and no half of a surrogate pair. */
export const STORABLE_TEXT = '^[^\\u0000\\p{Cs}]*$';

const ZERO_AMOUNT = /^0+(\.0+)?$/;

/** An amount of a request: decimal text, or a JSON number with its digits (decisions/money#amounts). */
export const RequestAmount = Type.Refine(
  Type.String({
    description:
      'A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"',
  }),
  (text) => parseRequestAmount(text) !== null,
  (text) => (ZERO_AMOUNT.test(text) ? 'min_amount' : 'format'),
);

/** A currency code of a request. */
export const RequestCurrency = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'A currency code in capital letters, such as "USDT"',
});

/** The metadata of a request: up to 20 strings. */
export const RequestMetadata = Type.Record(
  Type.String(),
  Type.String({
    maxLength: 500,
    pattern: STORABLE_TEXT,
    description: 'Text of at most 500 characters, without NUL in the key or the value',
  }),
  {
    maxProperties: 20,
    propertyNames: Type.String({ minLength: 1, maxLength: 40, pattern: STORABLE_TEXT }),
    description:
      'An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500',
  },
);

/** A text of a request, at most `maxLength` characters and without control characters. */
export function RequestText(maxLength: number, description: string) {
  return Type.String({ maxLength, pattern: STORABLE_TEXT, description });
}

/** The description of a payment or a payout. */
export const RequestDescription = Type.Refine(
  RequestText(255, 'Text of at most 255 characters without control characters'),
  isReadable,
  () => 'format',
);

/** One of some values. */
export function RequestChoice<Value extends string>(values: readonly Value[]) {
  return Type.Unsafe<Value>(
    Type.String({ enum: [...values], description: `One of ${values.join(', ')}` }),
  );
}

/** A provider's code. */
export const RequestProvider = RequestChoice(PROVIDER_CODES);

/**
 * @param schema of one kind of body; `check` finds faults that a schema cannot express, and is not told
 *   about a field that the schema refuses
 * @returns the reader of the bodies
 * @throws ApiError validation_failed with every failing field
 */
export function compileBody<Schema extends TObject>(schema: Schema) {
  const validator = Compile(schema);
  return (json: Json, check: (body: Json) => FieldError[] = () => []): Static<Schema> => {
    // Sizes are checked first: the validator looks at each element of a list that is too long, and no
    // pattern may run on a text that is too long.
    const errors: FieldError[] = [];
    const sized = withoutExcess(schema, json, [], errors) as Json;
    const body = withoutNulls(schema, { ...amountAsText(sized), ...plainIntegers(schema, sized) });
    const checked = withoutLongTexts(schema, body, [], errors) as Json;
    errors.push(...exceptOf(errors, fieldErrors(validator, checked)));
    errors.push(...exceptOf(errors, check(checked)));
    if (errors.length > 0) throw validationFailed(errors);
    return body as Static<Schema>;
  };
}

/**
 * The body with the number of `amount` turned into plain decimal text of the same digits. Other numbers
 * become NaN, because the type rule refuses them whatever their value.
 */
export function amountAsText(json: Json): Record<string, unknown> {
  const { amount } = json;
  const body = withPlainNumbers(json);
  return isLosslessNumber(amount) ? { ...body, amount: plainDecimal(amount.value) } : body;
}

function withPlainNumbers(object: Json): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, plainNumbers(value)]),
  );
}

function plainNumbers(value: unknown): unknown {
  if (isLosslessNumber(value)) return NaN;
  if (Array.isArray(value)) return value.map(plainNumbers);
  return isObject(value) ? withPlainNumbers(value) : value;
}

/** Turns short whole numbers into JavaScript numbers where the schema asks for integers. */
function plainIntegers({ properties }: TObject, json: Json): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => {
      const wanted = properties[name];
      if (wanted === undefined) return [];
      if (Type.IsInteger(wanted)) return [[name, plainInteger(value)]];
      const isList = Type.IsArray(wanted) && Type.IsInteger(wanted.items) && Array.isArray(value);
      return isList ? [[name, value.map(plainInteger)]] : [];
    }),
  );
}

function plainInteger(value: unknown): unknown {
  const isCount = isLosslessNumber(value) && /^[0-9]{1,9}$/.test(value.value);
  return isCount ? (JSON.parse(value.value) as number) : plainNumbers(value);
}

/** null for an optional field counts as absent; for any other it is a wrong type. */
function withoutNulls(schema: TObject, body: Json): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name, value]) => value !== null || !isOptional(schema, name))
      .map(([name, value]) => {
        const member = schema.properties[name];
        const nested = member !== undefined && Type.IsObject(member) && isObject(value);
        return [name, nested ? withoutNulls(member, value) : value];
      }),
  );
}

/**
 * The value with everything empty that the validator would look through in vain: a list with too many elements and an
 * object with too many keys, with an error about it in `errors`; what should be no list or object; the values of
 * unknown fields, of which only the first are left, to be named.
 */
function withoutExcess(
  schema: Described,
  value: unknown,
  path: readonly string[],
  errors: FieldError[],
): unknown {
  const { type, maxItems = Infinity, maxProperties = Infinity, properties } = schema;
  const field = path.join('.');
  if (Array.isArray(value)) {
    if (type !== 'array') return [];
    if (value.length <= maxItems) return value;
    errors.push({
      field,
      rule: 'type',
      message: sendAs(field, schema.description ?? 'documented'),
    });
    return [];
  }
  if (!isObject(value) || isLosslessNumber(value)) return value;
  if (type !== 'object') return {};
  const names = Object.keys(value);
  if (names.length > maxProperties) {
    errors.push({ field, rule: 'too_long', message: atMostKeys(maxProperties, field) });
    return {};
  }
  if (properties === undefined) return value;
  let unknown = 0;
  return Object.fromEntries(
    names.flatMap((name) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (member !== undefined) {
        return [[name, withoutExcess(member, value[name], [...path, name], errors)]];
      }
      return ++unknown > ERRORS_MAX ? [] : [[name, true]];
    }),
  );
}

/**
 * The value with each text that is too long replaced by an empty one, and an error about it in
 * `errors`.
 */
function withoutLongTexts(
  schema: Described | undefined,
  value: unknown,
  path: readonly string[],
  errors: FieldError[],
): unknown {
  if (typeof value === 'string') {
    const max = schema?.maxLength;
    if (max === undefined || hasAtMost(max, value)) return value;
    const field = path.join('.');
    const message = `Shorten ${field} to at most ${max} characters.`;
    errors.push({ field, rule: 'too_long', message });
    return '';
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withoutLongTexts(memberOf(schema, name), member, [...path, shortName(name)], errors),
    ]),
  );
}

/** Characters are counted as JSON Schema counts them: a surrogate pair is one. */
function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);
}

/** The errors about fields that no earlier error names. */
function exceptOf(earlier: readonly FieldError[], errors: readonly FieldError[]): FieldError[] {
  const refused = new Set(earlier.map(({ field }) => field));
  return errors.filter(({ field }) => !refused.has(field));
}

function isOptional({ properties, required }: Described, name: string): boolean {
  return properties?.[name] !== undefined && required?.includes(name) !== true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type SchemaError = ReturnType<Validator['Errors']>[number];

/** More than a person can correct at once; the default of 8 would hide some of a small body. */
const ERRORS_MAX = 100;
Settings.Set({ maxErrors: ERRORS_MAX });

/** The names of fields come from the client and may be as long as the body, so they are cut. */
const NAME_LENGTH_MAX = 100;

function fieldErrors(validator: Validator, value: unknown): FieldError[] {
  const schema = validator.Type();
  const byField = new Map<string, FieldError>();
  for (const error of validator.Errors(value)) {
    for (const found of translate(schema, error)) {
      // The first error is the most basic one: a wrong type comes before a wrong format.
      if (!byField.has(found.field)) byField.set(found.field, found);
    }
  }
  return [...byField.values()];
}

function translate(schema: TSchema, error: SchemaError): FieldError[] {
  const path = segments(error.instancePath);
  const field = path.join('.');
  const one = (rule: FieldRule, message: string): FieldError[] => [{ field, rule, message }];
  const isName = error.schemaPath.includes('/propertyNames');
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => {
        const missing = [...path, name].join('.');
        return { field: missing, rule: 'required', message: askFor(missing, schema) };
      });
    case 'boolean':
      return [unknownName('field', field, namesBeside(path, schema))];
    case 'additionalProperties':
    case 'propertyNames':
      // These errors summarize others that are listed one by one.
      return [];
    case 'enum':
      return one(field === 'provider' ? 'unknown_provider' : 'unsupported', askFor(field, schema));
    case 'maxProperties':
      return one('too_long', atMostKeys(error.params.limit, field));
    case 'maxLength':
      // This is about a key of metadata, because the lengths of texts are checked before.
      return one(
        'too_long',
        `Shorten the key ${field} to at most ${error.params.limit} characters.`,
      );
    case 'minLength':
      return one('too_short', isName ? 'Send no empty keys.' : `Send a value for ${field}.`);
    case 'pattern':
      return one('format', askFor(field, schema));
    case '~refine':
      // A refinement's message is the name of its rule.
      return one(error.params.message as FieldRule, askFor(field, schema));
    default:
      return one('type', askFor(field, schema));
  }
}

function atMostKeys(max: number, field: string): string {
  return `Send at most ${max} keys in ${field}.`;
}

/** The names that exist beside one that does not. */
function namesBeside(path: readonly string[], schema: TSchema): string[] {
  const parents = path.slice(0, -1);
  const parent = parents.reduce<Described | undefined>(memberOf, schema);
  return Object.keys(parent?.properties ?? {}).map((name) => [...parents, name].join('.'));
}

/** The fault of a name that does not exist, with the names that exist. */
export function unknownName(
  what: 'field' | 'parameter',
  field: string,
  known: readonly string[],
): FieldError {
  const others = known.length === 0 ? '' : `, or use one of ${known.join(', ')}`;
  const message = `Unknown ${what} ${field}. Remove it${others}.`;
  return { field, rule: 'unsupported', message };
}

/** The parts of a field's name in a JSON Pointer. */
function segments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => shortName(part.replaceAll('~1', '/').replaceAll('~0', '~')));
}

/** The name of a field as messages have it. */
export function shortName(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX);
}

interface Described {
  type?: unknown;
  description?: string;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, Described>;
  patternProperties?: Record<string, Described>;
  required?: readonly string[];
}

/** The sentence for a field that is missing or invalid. */
function askFor(field: string, schema: TSchema): string {
  let here: Described | undefined = schema;
  let optional = false;
  for (const part of field.split('.')) {
    optional = here !== undefined && isOptional(here, part);
    here = memberOf(here, part);
  }
  const what = here?.description ?? 'documented';
  return sendAs(field, optional ? `${what}, or omit it` : what);
}

function memberOf(schema: Described | undefined, name: string): Described | undefined {
  return schema?.properties?.[name] ?? Object.values(schema?.patternProperties ?? {})[0];
}

/** @param what a noun phrase that begins with a capital letter */
export function sendAs(field: string, what: string): string {
  return `Send ${field} as ${what.charAt(0).toLowerCase()}${what.slice(1)}.`;
}
