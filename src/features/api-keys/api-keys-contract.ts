/** API keys on the wire (decisions/keys#keys-by-api). */
import { type Static, Type } from 'typebox';
import { API_KEY_STATUSES, apiKeyStatus } from '../../domain/api-key';
import { ISO_TIME_PATTERN, parseIsoTime } from '../../domain/iso-time';
import { CURRENCY_PATTERN, REQUEST_AMOUNT_PATTERN } from '../../domain/money';
import { isPrintable } from '../../domain/printable';
import { SCOPES } from '../../domain/scopes';
import {
  compileBody,
  type Json,
  RequestChoice,
  RequestCurrency,
  STORABLE_TEXT,
} from '../../kit/api/body';
import {
  AmountText,
  CurrencyCode,
  examplePage,
  Id,
  ListOf,
  ModeName,
  OneOf,
  OrNull,
  Shape,
  Timestamp,
  Wrapped,
} from '../../kit/api/common';
import {
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listQueryOf,
  operations,
} from '../../kit/api/operation';
import { type Query, readListQuery } from '../../kit/api/query';
import type { ApiKey } from '../../db/api-keys/api-keys';

const RequestLimit = Type.Optional(
  Type.String({
    maxLength: 30,
    pattern: REQUEST_AMOUNT_PATTERN,
    description: 'A decimal string such as "500"',
  }),
);
const RequestLimits = Type.Record(
  Type.String({ pattern: CURRENCY_PATTERN }),
  Type.Object(
    { per_payout: RequestLimit, per_day: RequestLimit },
    { additionalProperties: false, description: 'An object with per_payout or per_day' },
  ),
  {
    additionalProperties: false,
    maxProperties: 50,
    description:
      'An object of maximum amounts by currency, such as {"USDT": {"per_payout": "500"}}',
  },
);

/** The body of POST /api_keys. */
export const ApiKeyBody = Type.Object(
  {
    name: Type.Refine(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'One line of at most 100 characters, without control characters',
      }),
      isPrintable,
      () => 'format',
    ),
    scopes: Type.Array(RequestChoice(SCOPES), {
      minItems: 1,
      maxItems: 100,
      description: 'A list of scopes that the calling key has, without api_keys:write',
    }),
    allowed_addresses: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 64,
          pattern: STORABLE_TEXT,
          description: 'An IP address or a network, such as "203.0.113.0/24"',
        }),
        { maxItems: 100, description: 'A list of IP addresses and networks' },
      ),
    ),
    requests_per_minute: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1200, description: 'A whole number from 1 to 1200' }),
    ),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 40,
        pattern: ISO_TIME_PATTERN,
        description: 'A time in ISO 8601 with a zone',
      }),
    ),
    recipients_only: Type.Optional(Type.Boolean({ description: 'True or false' })),
    currencies: Type.Optional(
      Type.Array(RequestCurrency, { maxItems: 50, description: 'A list of currency codes' }),
    ),
    payout_limits: Type.Optional(RequestLimits),
  },
  {
    additionalProperties: false,
    description: 'An API key. What is left out is as the calling key has it',
  },
);

/** The settings of a new key; a field that is left out is as its maker has it. */
export type KeyRequest = Static<typeof ApiKeyBody>;

const readBody = compileBody(ApiKeyBody);

/** @throws ApiError validation_failed with every failing field */
export function readApiKeyRequest(json: Json): KeyRequest {
  const { expires_at: text, ...body } = readBody(json, ({ expires_at: at }) =>
    typeof at === 'string' && parseIsoTime(at, 'to') === null
      ? [{ field: 'expires_at', rule: 'format', message: 'Send expires_at as a valid time.' }]
      : [],
  );
  const expires_at = text === undefined ? null : parseIsoTime(text, 'to');
  return { ...body, ...(expires_at === null ? {} : { expires_at }) };
}

/** @throws ApiError validation_failed with every failing parameter */
export function readApiKeyQuery(query: Query) {
  return readListQuery({}, query);
}

const KEY = {
  id: Id('apiKey'),
  object: Type.Literal('api_key'),
  mode: ModeName,
  name: Type.String({ description: 'The name' }),
  display: Type.String({ description: 'The first and the last characters of the secret' }),
  status: OneOf(API_KEY_STATUSES, 'Whether the key works'),
  scopes: Type.Array(Type.String(), { description: 'What the key may do' }),
  allowed_addresses: Type.Array(Type.String(), {
    description: 'Networks; empty for every address',
  }),
  requests_per_minute: Type.Integer({ description: 'The rate limit' }),
  recipients_only: Type.Boolean({ description: 'Whether it pays saved recipients only' }),
  currencies: Type.Array(CurrencyCode, { description: 'Of its payouts; empty for every currency' }),
  payout_limits: Type.Record(
    Type.String(),
    Shape(
      {
        per_payout: Type.Optional(AmountText('The maximum of one payout')),
        per_day: Type.Optional(AmountText('The maximum of 24 hours')),
      },
      'Maximum amounts',
    ),
    { description: 'Maximum amounts by currency' },
  ),
  created_by_key: OrNull(Id('apiKey'), 'The key that made it; null: a person'),
  expires_at: OrNull(Timestamp('The time when it expires'), 'Null: never'),
  revoked_at: OrNull(Timestamp('The time when it was revoked'), 'Null if it was not'),
  created_at: Timestamp('The time of creation'),
  last_used_at: OrNull(Timestamp('The time of its last use, to the minute'), 'Null: never'),
};

/** A key without its secret. */
export const ApiKeyObject = Shape(KEY, 'An API key');
export type ApiKeyObject = Static<typeof ApiKeyObject>;

/** A key in the response that made or rolled it, with its secret. */
export const ApiKeyWithSecretObject = Shape(
  {
    ...KEY,
    secret: OrNull(Type.String(), 'In the first response only; null in a repeated response'),
  },
  'An API key with its new secret',
);

const EXAMPLE: ApiKeyObject = {
  id: 'key_01M7YESA634WQFACSBWYSTKM76',
  object: 'api_key',
  mode: 'test',
  name: 'Payroll',
  display: 'sk_test_…x7Qa',
  status: 'working',
  scopes: ['payouts:write', 'payouts:read'],
  allowed_addresses: ['203.0.113.0/24'],
  requests_per_minute: 120,
  recipients_only: true,
  currencies: ['USDT'],
  payout_limits: { USDT: { per_payout: '500.00000000' } },
  created_by_key: 'key_01M7YESA6JGXFEX3057F2JK1YJ',
  expires_at: '2027-01-31T23:59:59.000Z',
  revoked_at: null,
  created_at: '2026-11-21T07:05:30.632Z',
  last_used_at: null,
};

const ONE = { status: 200, schema: Wrapped(ApiKeyObject), example: { data: EXAMPLE } } as const;
const WITH_SECRET = {
  schema: Wrapped(ApiKeyWithSecretObject),
  example: { data: { ...EXAMPLE, secret: 'sk_test_…' } },
} as const;
const tag = 'API keys';

/** The operations of /api_keys. */
export const API_KEY_OPERATIONS = operations([
  {
    id: 'createApiKey',
    method: 'post',
    path: '/api_keys',
    tag,
    summary: 'Create an API key',
    description:
      'Creates a key of the same mode with at most the scopes, addresses, rate, rules for payouts and lifetime of the calling key. What is left out is as the calling key has it. The new key cannot have api_keys:write, nor a scope that pays if the calling key has a maximum in 24 hours. Revoking the calling key revokes it. The secret is in the first response only: a response that is repeated for the same Idempotency-Key has null. In live mode, an owner of the account must have allowed it.',
    scope: 'api_keys:write',
    parameters: [IDEMPOTENCY_KEY],
    body: {
      schema: ApiKeyBody,
      examples: {
        payroll: {
          name: 'Payroll',
          scopes: ['payouts:write', 'payouts:read'],
          allowed_addresses: ['203.0.113.0/24'],
          recipients_only: true,
          currencies: ['USDT'],
          payout_limits: { USDT: { per_payout: '500' } },
          expires_at: '2027-01-31T23:59:59Z',
        },
      },
    },
    success: { ...WITH_SECRET, status: 201 },
    errors: [
      ...CREATION_ERRORS.filter((code) => code !== 'duplicate_reference'),
      'key_change_not_allowed',
      'invalid_state',
      'too_many_objects',
    ],
  },
  {
    id: 'listApiKeys',
    method: 'get',
    path: '/api_keys',
    tag,
    summary: 'List API keys',
    description:
      'Returns the keys of the mode, newest first, also revoked and expired ones, without secrets.',
    scope: 'api_keys:read',
    parameters: listQueryOf({}),
    success: {
      status: 200,
      schema: ListOf(ApiKeyObject),
      example: examplePage('/api_keys', [EXAMPLE]),
    },
    errors: ['validation_failed'],
  },
  {
    id: 'getApiKey',
    method: 'get',
    path: '/api_keys/{id}',
    tag,
    summary: 'Retrieve an API key',
    description: 'Returns a key without its secret.',
    scope: 'api_keys:read',
    parameters: [idOf('apiKey')],
    success: ONE,
    errors: ['not_found'],
  },
  {
    id: 'rollApiKey',
    method: 'post',
    path: '/api_keys/{id}/roll',
    tag,
    summary: 'Roll the secret of an API key',
    description:
      'Replaces the secret of the calling key, or of a key that it created. The old secret stops working at once. If you lose the response to the roll of another key, roll it again. In live mode, an owner of the account must have allowed it.',
    scope: 'api_keys:write',
    parameters: [idOf('apiKey')],
    success: { ...WITH_SECRET, status: 200 },
    errors: ['not_found', 'key_change_not_allowed', 'invalid_state', 'validation_failed'],
  },
  {
    id: 'revokeApiKey',
    method: 'post',
    path: '/api_keys/{id}/revoke',
    tag,
    summary: 'Revoke an API key',
    description:
      'Permanently revokes the calling key or a key that it created. The keys that it created are revoked as well.',
    scope: 'api_keys:write',
    parameters: [idOf('apiKey')],
    success: {
      ...ONE,
      example: {
        data: { ...EXAMPLE, status: 'revoked', revoked_at: '2026-11-25T16:20:00.000Z' },
      },
    },
    errors: ['not_found', 'key_change_not_allowed'],
  },
]);

/** API keys in responses of the API. */

export function presentKey(key: ApiKey): ApiKeyObject {
  return {
    id: key.id,
    object: 'api_key',
    mode: key.mode,
    name: key.name,
    display: `${key.displayPrefix}…${key.lastFour}`,
    status: apiKeyStatus(key, new Date()),
    scopes: key.scopes,
    allowed_addresses: key.allowlist,
    requests_per_minute: key.requestsPerMinute,
    recipients_only: key.recipientsOnly,
    currencies: key.payoutCurrencies,
    payout_limits: key.payoutLimits,
    created_by_key: key.createdByKey,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

export function presentKeyWithSecret({ secret, ...key }: ApiKey & { secret: string }) {
  return { ...presentKey(key), secret };
}
