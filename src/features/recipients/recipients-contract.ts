/** Recipients on the wire (decisions/payouts#recipients). */
import { type Static, Type } from 'typebox';
import { DESTINATION_TYPES } from '../../domain/destination';
import { isPrintable } from '../../domain/printable';
import type { RecipientChange, RecipientRequest, Recipient } from '../../domain/recipient';
import { compileBody, type Json, RequestCurrency } from '../../kit/api/body';
import {
  AwaitsSecondPerson,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  OrNull,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import {
  created,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listed,
  listQueryOf,
  shown,
  operations,
} from '../../kit/api/operation';
import {
  destinationErrors,
  readDestination,
  RequestDestination,
  RequestNetwork,
} from '../payouts/payouts-contract';
import { CURRENCY, matching, type Query, readListQuery } from '../../kit/api/query';

const Name = Type.Refine(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'One line of at most 100 characters',
  }),
  isPrintable,
  () => 'format',
);
const Tags = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 40,
    pattern: '^[A-Za-z0-9_.-]*$',
    description: 'A tag of 1 to 40 letters, digits, "_", "." or "-"',
  }),
  { maxItems: 20, description: 'At most 20 tags of 1 to 40 letters, digits, "_", "." or "-"' },
);

/** The body of POST /recipients. */
export const RecipientBody = Type.Object(
  {
    name: Name,
    currency: RequestCurrency,
    network: Type.Optional(RequestNetwork),
    destination: RequestDestination,
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false, description: 'A recipient' },
);

/** The body of PATCH /recipients/{id}. */
export const RecipientChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    currency: Type.Optional(RequestCurrency),
    network: Type.Optional(RequestNetwork),
    destination: Type.Optional(RequestDestination),
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false, description: 'The fields of a recipient that change' },
);

const readBody = compileBody(RecipientBody);
const readChangeBody = compileBody(RecipientChangeBody);

/** @throws ApiError validation_failed with every failing field */
export function readRecipientRequest(json: Json): RecipientRequest {
  const { name, currency, network = null, tags = [], ...body } = readBody(json, destinationErrors);
  const destination = readDestination(json, body.destination);
  return { name, currency, network, destination, tags: unique(tags) };
}

/** @throws ApiError validation_failed with every failing field */
export function readRecipientChange(json: Json): RecipientChange {
  const { destination, tags, ...body } = readChangeBody(json, destinationErrors);
  return {
    ...body,
    ...(tags === undefined ? {} : { tags: unique(tags) }),
    ...(destination === undefined ? {} : { destination: readDestination(json, destination) }),
  };
}

function unique(tags: readonly string[]): string[] {
  return [...new Set(tags)];
}

const FILTERS = {
  currency: CURRENCY,
  network: matching(/^[a-z0-9_-]{1,64}$/, 'The name of a network'),
  tag: matching(/^[A-Za-z0-9_.-]{1,40}$/, 'A tag'),
};

/** @throws ApiError validation_failed with every failing parameter */
export function readRecipientQuery(query: Query) {
  return readListQuery(FILTERS, query);
}

/** A recipient (decisions/payouts#recipients). */
export const RecipientObject = Shape(
  {
    id: Id('recipient'),
    object: Type.Literal('recipient'),
    mode: ModeName,
    name: Type.String({ description: 'The name' }),
    currency: CurrencyCode,
    network: OrNull(Type.String(), 'Null for a transfer within a provider'),
    destination: Shape(
      {
        type: OneOf(DESTINATION_TYPES, 'The type of value'),
        value: Type.String({ description: 'The address, account ID or email address' }),
        memo: OrNull(Type.String({ maxLength: 64 }), 'The memo or destination tag'),
      },
      'Where its payouts go',
    ),
    tags: Type.Array(Type.String(), { description: 'Your tags' }),
    usable_from: Timestamp('Payouts are possible from this time on'),
    awaits_second_person: AwaitsSecondPerson,
    created_at: Timestamp('The time of creation'),
    updated_at: Timestamp('The time of the last change'),
    deleted_at: OrNull(Timestamp('The time of the deletion'), 'Null while it exists'),
  },
  'A recipient',
);
export type RecipientObject = Static<typeof RecipientObject>;

const REQUEST_EXAMPLE: Static<typeof RecipientBody> = {
  name: 'Ada Lovelace',
  currency: 'USDT',
  network: 'tron',
  destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  tags: ['payroll'],
};

const EXAMPLE: RecipientObject = {
  id: 'rcp_01M7YESA634WQFACSBWYSTKM76',
  object: 'recipient',
  mode: 'live',
  name: 'Ada Lovelace',
  currency: 'USDT',
  network: 'tron',
  destination: {
    type: 'crypto_address',
    value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    memo: null,
  },
  tags: ['payroll'],
  usable_from: '2026-11-22T07:05:30.632Z',
  awaits_second_person: false,
  created_at: '2026-11-21T07:05:30.632Z',
  updated_at: '2026-11-21T07:05:30.632Z',
  deleted_at: null,
};

const ONE = shown(RecipientObject, EXAMPLE);
const ROUTE_ERRORS = ['destination_not_supported', 'network_required'] as const;

/** The operations of /recipients. */
export const RECIPIENT_OPERATIONS = operations([
  {
    id: 'createRecipient',
    method: 'post',
    path: '/recipients',
    tag: 'Recipients',
    summary: 'Create a recipient',
    description:
      'Saves a destination under a name. A live recipient can be paid from usable_from on: after 24 hours, unless your account has another wait.',
    scope: 'recipients:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: RecipientBody, examples: { wallet: REQUEST_EXAMPLE } },
    success: created(RecipientObject, EXAMPLE),
    errors: [...CREATION_ERRORS.filter((code) => code !== 'duplicate_reference'), ...ROUTE_ERRORS],
  },
  {
    id: 'listRecipients',
    method: 'get',
    path: '/recipients',
    tag: 'Recipients',
    summary: 'List recipients',
    description: 'Returns recipients, newest first. Deleted recipients are left out.',
    scope: 'recipients:read',
    parameters: listQueryOf(FILTERS),
    success: listed(RecipientObject, '/recipients', [EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getRecipient',
    method: 'get',
    path: '/recipients/{id}',
    tag: 'Recipients',
    summary: 'Retrieve a recipient',
    description:
      'Returns a recipient, also a deleted one. GET /payouts?recipient=… lists its payouts.',
    scope: 'recipients:read',
    parameters: [idOf('recipient')],
    success: ONE,
    errors: ['not_found'],
  },
  {
    id: 'updateRecipient',
    method: 'patch',
    path: '/recipients/{id}',
    tag: 'Recipients',
    summary: 'Update a recipient',
    description:
      'Changes the fields that the body names. A live recipient whose currency, network or destination changes waits again. Payouts that were requested before go to the earlier destination.',
    scope: 'recipients:write',
    parameters: [idOf('recipient')],
    body: {
      schema: RecipientChangeBody,
      examples: { name: { name: 'Ada King', tags: ['payroll', 'london'] } },
    },
    success: ONE,
    errors: [
      'invalid_json',
      'payload_too_large',
      'unsupported_media_type',
      'validation_failed',
      'not_found',
      'invalid_state',
      ...ROUTE_ERRORS,
    ],
  },
  {
    id: 'deleteRecipient',
    method: 'delete',
    path: '/recipients/{id}',
    tag: 'Recipients',
    summary: 'Delete a recipient',
    description: 'No further payout can name it. Payouts that were requested before continue.',
    scope: 'recipients:write',
    parameters: [idOf('recipient')],
    success: {
      ...ONE,
      example: { data: { ...EXAMPLE, deleted_at: '2026-11-25T16:20:00.000Z' } },
    },
    errors: ['not_found'],
  },
]);

/** A recipient in API responses, webhook events and the audit log. */

export function presentRecipient(recipient: Recipient): RecipientObject {
  return {
    id: recipient.id,
    object: 'recipient',
    mode: recipient.mode,
    name: recipient.name,
    currency: recipient.currency,
    network: recipient.network,
    destination: {
      type: recipient.destinationType,
      value: recipient.destinationValue,
      memo: recipient.destinationMemo,
    },
    tags: recipient.tags,
    usable_from: recipient.usableFrom.toISOString(),
    awaits_second_person: recipient.awaitsSecondPerson,
    created_at: recipient.createdAt.toISOString(),
    updated_at: recipient.updatedAt.toISOString(),
    deleted_at: recipient.deletedAt?.toISOString() ?? null,
  };
}
