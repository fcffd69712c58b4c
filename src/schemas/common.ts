/** What the objects of the API have in common (the specification, "Conventions"). */
import { type TSchema, Type } from 'typebox';
import { ID_PREFIXES, type IdKind } from '../domain/ids';
import { MODES } from '../domain/mode';
import { PROVIDER_CODES } from '../domain/provider-codes';
import { CURRENCY } from './fields';

const ULID_PATTERN = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

export function Id(kind: IdKind) {
  const prefix = ID_PREFIXES[kind];
  return Type.String({
    pattern: `^${prefix}${ULID_PATTERN}$`,
    description: `Id with the prefix ${prefix}`,
  });
}

/** Exactly 8 decimals, never an exponent (decision W2). */
export function AmountText(description: string) {
  return Type.String({ pattern: '^[0-9]{1,30}\\.[0-9]{8}$', description });
}

export function Timestamp(description: string) {
  return Type.String({ format: 'date-time', description });
}

export function OrNull(schema: TSchema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

export function OneOf(values: readonly string[], description: string) {
  return Type.Enum([...values], { description });
}

export const ModeName = OneOf(MODES, 'Decided by the API key');
export const ProviderName = OneOf(PROVIDER_CODES, 'Provider code');
export const CurrencyCode = Type.String({ pattern: CURRENCY, description: 'Currency code' });

/** Objects are closed: a member that the document does not name is a fault of ours. */
export function Shape(properties: Record<string, TSchema>, description: string) {
  return Type.Object(properties, { additionalProperties: false, description });
}

export function Wrapped(schema: TSchema) {
  return Shape({ data: schema }, 'A single object');
}

export function ListOf(schema: TSchema) {
  const url = OrNull(Type.String({ format: 'uri' }));
  const cursor = OrNull(Type.String());
  return Shape(
    {
      data: Type.Array(schema, { description: 'Newest first' }),
      links: Shape(
        { first: Type.Null(), last: Type.Null(), prev: Type.Null(), next: url },
        'next is the address of the next page, or null',
      ),
      meta: Shape(
        {
          path: Type.String({ format: 'uri' }),
          per_page: Type.Integer({ minimum: 1, maximum: 100 }),
          next_cursor: cursor,
          prev_cursor: Type.Null(),
        },
        'next_cursor is the cursor of the next page; null when there are no more',
      ),
    },
    'A page of a list',
  );
}
