/** An operation of the API as data, and the parts that several operations have in common. */
import { type Static, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../domain/errors';
import type { Scope } from '../../domain/scopes';
import { examplePage, Id, ListOf, Wrapped } from './common';
import { PAGE_PARAMETERS, type QueryParameters } from './query';

/** A parameter of an operation, as openapi.json describes it. */
export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  style?: 'form';
  explode?: boolean;
  schema: TSchema;
  description: string;
}

/** The successful answer of an operation, with an example. */
export interface Success {
  status: 200 | 201;
  schema: TSchema;
  example: object;
  /** Examples of the same in other types, where the caller can choose. */
  texts?: Record<string, string>;
}

/** The answer to a request for one object. */
export function shown<Schema extends TSchema>(schema: Schema, example: Static<Schema>): Success {
  return { status: 200, schema: Wrapped(schema), example: { data: example } };
}

/** The answer of an operation that creates an object: 201 with the object. */
export function created<Schema extends TSchema>(schema: Schema, example: Static<Schema>): Success {
  return { ...shown(schema, example), status: 201 };
}

/** The answer to a request for a list, with the examples on one page. @param path such as `/payouts` */
export function listed<Schema extends TSchema>(
  schema: Schema,
  path: string,
  examples: Static<Schema>[],
): Success {
  return { status: 200, schema: ListOf(schema), example: examplePage(path, examples) };
}

/** An operation of the API, as openapi.json and the clients describe it. */
export interface Operation {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** The path below /api/v1, with `{id}` for a parameter. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** Null means any valid key. */
  scope: Scope | null;
  parameters: Parameter[];
  body?: { schema: TSchema; examples: Record<string, object> };
  success: Success;
  /** The answer to a request that only asks, such as a dry run. */
  answer?: Success;
  /** Errors beside those that every operation has. */
  errors: ErrorCode[];
}

/** The operations of a feature. Their IDs are in the type, so that each must have a handler (routes.ts). */
export function operations<const Id extends string>(
  list: readonly (Operation & { id: Id })[],
): readonly (Operation & { id: Id })[] {
  return list;
}

/** The query parameters of an operation. */
export function queryOf(parameters: QueryParameters, required = false): Parameter[] {
  return Object.entries(parameters).map(([name, { schema, description }]) => ({
    name,
    in: 'query',
    ...(required ? { required } : {}),
    // The values of a list are in one parameter, separated by commas.
    ...(Type.IsArray(schema) ? { style: 'form', explode: false } : {}),
    schema,
    description,
  }));
}

/** The parameters of a list. */
export function listQueryOf(filters: QueryParameters): Parameter[] {
  return [...queryOf(filters), ...queryOf(PAGE_PARAMETERS)];
}

/** The parameter for the id in the path. */
export function idOf(
  kind:
    | 'payment'
    | 'payout'
    | 'payoutBatch'
    | 'payoutSchedule'
    | 'recipient'
    | 'refund'
    | 'event'
    | 'transaction'
    | 'apiKey'
    | 'request'
    | 'webhookEndpoint'
    | 'webhookDelivery',
): Parameter {
  return {
    name: 'id',
    in: 'path',
    required: true,
    schema: Id(kind),
    description: `The ID of the ${kind.replace(/^(?:payout|webhook|api)(?=[A-Z])/, '').toLowerCase()}`,
  };
}

/** The header that makes a creation safe to repeat (decisions/api#idempotency). */
export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  schema: Type.String({ minLength: 1, maxLength: 191, pattern: '^[\\x20-\\x7e]+$' }),
  description:
    'Printable ASCII characters, unique for each new request. For 24 hours, a request with the same key and body returns the stored response of the first one',
};

/** The errors of both POSTs with an idempotency key. */
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
