/** What an operation of the API is as data, and the parameters that several of them take. */
import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../domain/errors';
import type { Scope } from '../domain/scopes';
import { CurrencyCode, Id, ProviderName } from '../schemas/common';

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  schema: TSchema;
  description: string;
}

export interface Operation {
  id: string;
  method: 'get' | 'post';
  /** Relative to /api/v1, with `{id}` for a parameter. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** Null: any valid key. */
  scope: Scope | null;
  parameters: Parameter[];
  body?: { schema: TSchema; examples: Record<string, object> };
  success: { status: 200 | 201; schema: TSchema; example: object };
  /** Beside those that every operation has. */
  errors: ErrorCode[];
}

export const LIST_PARAMETERS: Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    schema: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
    description: 'Objects on a page',
  },
  {
    name: 'cursor',
    in: 'query',
    schema: Type.String(),
    description: 'meta.next_cursor of the page before, with the same filters',
  },
];

export const time = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  schema: Type.String({ examples: ['2026-01-31', '2026-01-31T12:00:00Z'] }),
  description: `${description}; a bare date means the whole UTC day`,
});
export const CREATED: Parameter[] = [
  time('created_from', 'Not before this time'),
  time('created_to', 'Not after this time'),
];

export const query = (
  name: string,
  schema: TSchema,
  description: string,
  required = false,
): Parameter => ({
  name,
  in: 'query',
  ...(required ? { required } : {}),
  schema,
  description,
});

export const PAYOUT_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  schema: Id('payout'),
  description: "The payout's id",
};

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  schema: Type.String({ minLength: 1, maxLength: 191, pattern: '^[\\x20-\\x7e]+$' }),
  description:
    'Printable ASCII, new for each new request. The same key with the same body gets the first answer again for 24 hours',
};

export const PAYMENT_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  schema: Id('payment'),
  description: "The payment's id",
};

/** What both POSTs with an idempotency key can answer with. */
export const CREATION_ERRORS: ErrorCode[] = [
  'invalid_json',
  'idempotency_key_required',
  'duplicate_reference',
  'request_in_progress',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
  'idempotency_key_reused',
  'service_unavailable',
];

/** The filters that payments and payouts share. */
export const OWN_FILTERS: Parameter[] = [
  query('reference', Type.String(), 'Your unique id'),
  query('currency', CurrencyCode, 'Currency code'),
  query('provider', ProviderName, 'Provider code'),
];
