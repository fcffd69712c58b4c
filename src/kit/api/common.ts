/** The parts that the objects of the API have in common (the specification, "Conventions"). */
import { type Static, type TProperties, type TSchema, type TUnion, Type } from 'typebox';
import { ID_PREFIXES, type IdKind } from '../../domain/ids';
import { MODES } from '../../domain/mode';
import { AMOUNT_PATTERN, CURRENCY_PATTERN } from '../../domain/money';
import { PROVIDER_CODES } from '../../domain/provider-codes';

/** A ULID, which follows the prefix of an id. */
export const ULID_PATTERN = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/** The id of an object of this kind. */
export function Id(kind: IdKind, description?: string) {
  const prefix = ID_PREFIXES[kind];
  return Type.String({
    pattern: `^${prefix}${ULID_PATTERN}$`,
    description: description ?? `ID with the prefix ${prefix}`,
  });
}

/** Exactly 8 decimals, never an exponent (decisions/money#amounts). */
export function AmountText(description: string) {
  return Type.String({ pattern: AMOUNT_PATTERN, description });
}

/** A time in ISO 8601, in UTC and with milliseconds. */
export function Timestamp(description: string) {
  return Type.String({ format: 'date-time', description });
}

/** A value that may be null. */
export function OrNull<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/**
 * A text of an answer that has one of these values today. A later version may add values (decisions/api#versioning), and
 * classes that are generated from an `enum` would refuse them.
 */
export function OneOf<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    description: `${description}: ${values.join(', ')}, or a value that was added later`,
    'x-extensible-enum': [...values],
  });
}

/** An object of an answer that is one of these today, as its member `name` says. A later version may add others. */
export function OneObjectOf<Members extends TSchema[]>(
  members: [...Members],
  name: string,
  description: string,
) {
  return Type.Unsafe<StaticUnion<Members>>({
    type: 'object',
    required: [name],
    properties: { [name]: { type: 'string' } },
    additionalProperties: true,
    description,
    'x-extensible-anyOf': members,
  });
}

type StaticUnion<Members extends TSchema[]> = Static<TUnion<Members>>;

/** The mode of an object. */
export const ModeName = Type.Enum([...MODES], { description: 'The mode of the API key' });
/** The code of a provider. */
export const ProviderName = OneOf(PROVIDER_CODES, 'Provider code');
/** A currency, such as `USDT`. */
export const CurrencyCode = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'Currency code',
});
/** The metadata of an object, as the merchant sent it. */
export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: 'The metadata of the request',
});

/**
 * An object of an answer. A later version may add members, so readers must ignore unknown ones
 * (decisions/api#versioning).
 */
export function Shape<Properties extends TProperties>(properties: Properties, description: string) {
  return Type.Object(properties, { description });
}

/** The body of an answer with one object: `{data}`. */
export function Wrapped<Schema extends TSchema>(schema: Schema) {
  return Shape({ data: schema }, 'A single object');
}

/** Not `null` alone, of which the Java client's generator makes a class that does not exist. */
const UNUSED = OrNull(Type.String(), 'Always null');
const PER_PAGE = { minimum: 1, maximum: 100 };

/** The body of an answer with a page of a list: `{data, meta, links}`. */
export function ListOf<Schema extends TSchema>(schema: Schema) {
  const next = OrNull(Type.String({ format: 'uri' }), 'Null on the last page');
  return Shape(
    {
      data: Type.Array(schema, { description: 'Newest first' }),
      links: Shape(
        { first: UNUSED, last: UNUSED, prev: UNUSED, next },
        'next is the URL of the next page, or null on the last page',
      ),
      meta: Shape(
        {
          path: Type.String({ format: 'uri' }),
          per_page: Type.Integer(PER_PAGE),
          next_cursor: OrNull(Type.String(), 'Null on the last page'),
          prev_cursor: UNUSED,
        },
        'next_cursor is the cursor of the next page, or null on the last page',
      ),
    },
    'A page of a list',
  );
}

/** An example of ListOf that has one page. @param path such as `/payouts` */
export function examplePage<Item>(path: string, data: Item[]) {
  return {
    data,
    links: { first: null, last: null, prev: null, next: null },
    meta: {
      path: `https://pay.example.com/api/v1${path}`,
      per_page: 25,
      next_cursor: null,
      prev_cursor: null,
    },
  };
}

/** Whether an object waits for another person of the merchant. */
export const AwaitsSecondPerson = Type.Boolean({
  description:
    'Whether it was made by a person on the dashboard, and waits for the approval of another one',
});
