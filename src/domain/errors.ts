/**
 * Every refusal the API can give, in one catalogue: code → status, message and the schema of its details. A
 * refusal is expected and tells the caller what to do; anything else that is thrown is an operating fault
 * (the client or Temporal tries again) or a programmer's error.
 *
 * Source: the specification, "Errors", and decisions/api#errors, decisions/api#validation,
 * decisions/api#references and decisions/api#retry-after.
 */
import type { XStatic } from 'typebox/schema';
import { AMOUNT_PATTERN, CURRENCY_PATTERN } from './money';

/** The rules that a field can break (decisions/api#validation). */
export const FIELD_RULES = [
  'required',
  'type',
  'format',
  'too_short',
  'too_long',
  'min_amount',
  'max_amount',
  'unsupported',
  'memo_required',
  'memo_not_supported',
  'unknown_provider',
  'out_of_range',
  'not_found',
] as const;
export type FieldRule = (typeof FIELD_RULES)[number];

/**
 * The reasons of `service_unavailable`. The contract takes any string, so another reason is an addition
 * (decisions/api#versioning). Metrics and logs have no others.
 */
export const UNAVAILABLE_REASONS = [
  'database_unavailable',
  'workflow_engine_unavailable',
  'provider_unavailable',
  'provider_rate_limited',
  'callback_not_taken',
  'overloaded',
  'fees_not_configured',
  'limits_not_configured',
  'payouts_paused',
] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/**
 * With these reasons an operator has to act, so the answer names no time to wait
 * (decisions/api#retry-after).
 */
const UNTIL_CONFIGURED: readonly UnavailableReason[] = [
  'fees_not_configured',
  'limits_not_configured',
];

/** What is wrong with one field of a request; `field` is its path, such as `destination.value`. */
export interface FieldError {
  field: string;
  rule: FieldRule;
  message: string;
}

// Details are JSON Schema, from which their types derive. They are plain data, because the
// workflows' bundle may load this module and must stay free of the schemas' library.
const STRING = { type: 'string' } as const;
const CURRENCY = {
  type: 'string',
  pattern: CURRENCY_PATTERN,
  description: 'Currency code',
} as const;

function amountOf<const D extends string>(description: D) {
  return { type: 'string', pattern: AMOUNT_PATTERN, description } as const;
}

/**
 * The schema of an object that has all of these members. A later version may add others
 * (decisions/api#versioning).
 */
function object<const P extends Record<string, object>>(properties: P, description: string) {
  // XStatic reads the names from a tuple's element type and overlooks arrays.
  const required = Object.keys(properties) as [keyof P & string];
  return {
    type: 'object',
    required,
    properties,
    description,
  } as const;
}

const FIELD_ERROR = object(
  {
    field: { type: 'string', description: 'Path of the field, such as destination.value' },
    rule: { enum: FIELD_RULES, description: 'The rule that the field breaks' },
    message: { type: 'string', description: 'How to correct the field' },
  },
  'An invalid field',
);

/** The most refused rows that one answer names. */
export const REFUSED_ROWS_SHOWN = 1_000;

/** The refusal of one row has the form of the error of a request that creates this payout alone. */
const ROW_FAULT = object(
  {
    row: { type: 'integer', description: 'The row, counted from 1' },
    reference: { type: ['string', 'null'], description: 'The reference of the row' },
    code: { type: 'string', description: 'The error code' },
    message: { type: 'string', description: 'What is wrong and what to do' },
    details: { type: ['object', 'null'], description: 'The details of the error code' },
  },
  'A refused row',
);

/** The catalogue of all refusals by code: status, message and the schema of the details. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    message: 'The request is not valid HTTP. Send one Host header and a complete request.',
  },
  invalid_json: {
    status: 400,
    message: 'The body is not valid JSON. Send a JSON object encoded as UTF-8.',
  },
  idempotency_key_required: {
    status: 400,
    message:
      'The Idempotency-Key header is missing or invalid. Send it once, with 1 to 191 printable ASCII characters.',
  },
  authentication_required: {
    status: 401,
    message:
      'No API key was provided. Send your API key in the header "Authorization: Bearer <key>".',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is invalid, expired or revoked. Use an active API key.',
  },
  invalid_signature: {
    status: 401,
    message:
      'The signature of the callback is invalid. Sign the callback with the secret of this provider and mode.',
  },
  ip_not_allowed: {
    status: 403,
    message:
      'This API key cannot be used from your IP address. Add the address to the allowlist of the key.',
  },
  insufficient_scope: {
    status: 403,
    message:
      'This API key does not have the required scope. Use a key with the scope in details.required_scope.',
    details: object({ required_scope: STRING }, 'The missing scope'),
  },
  release_not_allowed: {
    status: 403,
    message:
      'This API key may not release the payout. Use the key in details.api_key, which the payout names.',
    details: object({ api_key: STRING }, 'The key that may release the payout'),
  },
  key_change_not_allowed: {
    status: 403,
    message:
      'This API key may not change that key. A key can change itself and the keys that it created.',
    details: object(
      {
        reason: {
          enum: ['not_made_by_this_key', 'live_keys_by_people'],
          description: 'The reason',
        },
      },
      'Why the key may not be changed',
    ),
  },
  account_suspended: {
    status: 403,
    message: 'This merchant account is suspended. Contact the operator.',
  },
  recipient_required: {
    status: 403,
    message:
      'This account or API key may pay saved recipients only. Send recipient with the ID of a recipient in place of destination.',
    details: object(
      { held: { enum: ['account', 'api_key'], description: 'What is held to recipients' } },
      'Where the rule is set',
    ),
  },
  currency_not_allowed: {
    status: 403,
    message:
      'This API key may not pay in this currency. Use a currency in details.allowed, or another key.',
    details: object({ allowed: { type: 'array', items: STRING } }, 'The currencies of the key'),
  },
  not_found: {
    status: 404,
    message: 'Not found. Check the path and the ID.',
    details: object({ resource: STRING }, 'The resource that was not found'),
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support this method. Use a method listed in the Allow header.',
    details: object({ allowed: { type: 'array', items: STRING } }, 'The supported methods'),
  },
  request_timeout: {
    status: 408,
    message: 'The request was not received in time. Send it again.',
  },
  invalid_state: {
    status: 409,
    message:
      'The current status of the object does not allow this action. Retrieve the object to see its status.',
    details: object({ status: STRING }, 'The current status'),
  },
  duplicate_reference: {
    status: 409,
    message:
      'This reference is already used by the object in details.existing_id. Use a new reference.',
    details: object(
      {
        existing_id: STRING,
        existing_object: {
          enum: ['payout', 'payment', 'payout_batch', 'payout_schedule', 'refund'],
          description: 'Type of the object',
        },
      },
      'The object that uses the reference',
    ),
  },
  recipient_not_ready: {
    status: 409,
    message:
      'The recipient is new, or its destination has changed. Send the payout again at details.usable_from, or after a second person has approved the recipient.',
    details: object(
      {
        recipient: STRING,
        usable_from: { type: 'string', format: 'date-time', description: 'When the wait ends' },
      },
      'The recipient and the end of its wait',
    ),
  },
  too_many_objects: {
    status: 409,
    message:
      'The account has the maximum number of these objects in this mode; see details. Delete or revoke one first.',
    details: object(
      { resource: STRING, maximum: { type: 'integer', description: 'The maximum' } },
      'The type of object and its maximum',
    ),
  },
  request_in_progress: {
    status: 409,
    message:
      'A request with this Idempotency-Key is still in progress. Retry it after Retry-After seconds.',
  },
  cursor_expired: {
    status: 410,
    message:
      'Events after this position are no longer available. Retrieve your objects to see their current status, then continue with after=oldest.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body exceeds 64 KiB. Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The media type is not supported. Send "Content-Type: application/json".',
  },
  expectation_failed: {
    status: 417,
    message: 'The Expect header is not supported. Send the request without it.',
  },
  validation_failed: {
    status: 422,
    message: 'Some fields are invalid. Correct the fields listed in details.fields.',
    details: object(
      { fields: { type: 'array', items: FIELD_ERROR, minItems: 1 } },
      'All invalid fields',
    ),
  },
  idempotency_key_reused: {
    status: 422,
    message:
      'This Idempotency-Key was already used with a different request. Use a new key for each new request.',
  },
  insufficient_balance: {
    status: 422,
    message:
      'The available balance does not cover the amount plus fees; see details. Add funds or lower the amount.',
    details: object(
      {
        currency: CURRENCY,
        available: amountOf('The available balance'),
        required: amountOf('What the request takes from the balance'),
      },
      'The available and the required amount',
    ),
  },
  destination_not_supported: {
    status: 422,
    message:
      'No enabled provider supports this currency with this type of destination. Use a combination listed in details.supported.',
    details: object(
      {
        currency: CURRENCY,
        // Null if the request names none.
        provider: { type: ['string', 'null'] },
        destination_type: STRING,
        supported: {
          type: 'array',
          items: object(
            { provider: STRING, destination_types: { type: 'array', items: STRING } },
            'The types of destinations that a provider pays to',
          ),
        },
      },
      'The request and the supported combinations',
    ),
  },
  network_required: {
    status: 422,
    message: 'A network is required for this currency. Set network to one of details.networks.',
    details: object(
      {
        provider: STRING,
        currency: CURRENCY,
        networks: { type: 'array', items: STRING, minItems: 1 },
      },
      'The supported networks',
    ),
  },
  limit_exceeded: {
    status: 422,
    message:
      'The payout would exceed a limit of your account or API key; see details. Lower the amount or try again later.',
    details: object(
      {
        limit: {
          enum: ['per_transaction', 'daily', 'key_per_transaction', 'key_daily'],
          description: 'The limit, of the account or of the API key',
        },
        currency: CURRENCY,
        maximum: amountOf('The maximum'),
        used: amountOf('The amount used in the last 24 hours'),
        requested: amountOf('The requested amount'),
        resets_at: {
          anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
          description: 'When the oldest payout no longer counts; null if no payout counts',
        },
      },
      'The limit and its use',
    ),
  },
  rows_refused: {
    status: 422,
    message:
      'Some rows of the batch were refused, and nothing was reserved. Correct the rows in details.rows, then send the batch again.',
    details: object(
      {
        refused: {
          type: 'integer',
          description: `The number of refused rows. Reading ends after ${REFUSED_ROWS_SHOWN} rows with invalid fields`,
        },
        rows: {
          type: 'array',
          minItems: 1,
          maxItems: REFUSED_ROWS_SHOWN,
          description: `The first ${REFUSED_ROWS_SHOWN} refused rows`,
          items: ROW_FAULT,
        },
      },
      'The refused rows',
    ),
  },
  refund_exceeds_payment: {
    status: 422,
    message:
      'The amount exceeds what can still be refunded of this payment; see details. Lower the amount.',
    details: object(
      {
        currency: CURRENCY,
        requested: amountOf('The requested amount'),
        refundable: amountOf('What was credited and is not refunded, or being refunded, yet'),
      },
      'The requested amount and what is left',
    ),
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests. Retry after Retry-After seconds.',
    details: object({ limit_per_minute: { type: 'integer' } }, 'The rate limit'),
  },
  headers_too_large: {
    status: 431,
    message: 'The headers exceed 16 KiB. Send smaller headers.',
  },
  internal_error: {
    status: 500,
    message: 'An internal error occurred. Retry the request with the same Idempotency-Key.',
  },
  service_unavailable: {
    status: 503,
    message:
      'The service is temporarily unavailable. Retry the request after Retry-After seconds with the same Idempotency-Key.',
    details: object({ reason: STRING }, 'The reason'),
  },
} as const satisfies Record<string, ErrorEntry>;

/** An entry of the catalogue. */
export interface ErrorEntry {
  status: number;
  /** Says what is wrong and what to do, for a person. */
  message: string;
  /** The JSON Schema of `details`. A code without it has no details. */
  details?: object;
}

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** The catalogue's entry of a code. */
export function errorEntry(code: ErrorCode): ErrorEntry {
  return ERRORS[code];
}

/**
 * A refusal as plain data, because a workflow can return it and could not return a thrown error. The
 * details are those of the code. A message here is more precise than the catalogue's.
 */
export type Refusal<Code extends ErrorCode = ErrorCode> = {
  [C in Code]: { code: C; message?: string } & (C extends 'service_unavailable'
    ? { details: { reason: UnavailableReason } }
    : DetailsOf<(typeof ERRORS)[C]>);
}[Code];

type DetailsOf<Entry> = Entry extends { details: infer Schema }
  ? { details: XStatic<Schema> }
  : { details?: never };

/** A refusal on its way to the client. Only kit/api/write-errors.ts writes it to the wire. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Extra response headers, such as Retry-After. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly refusal: Refusal,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const { code, message, details } = refusal;
    super(message ?? ERRORS[code].message);
    this.name = 'ApiError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = details;
    this.headers = headers;
  }
}

/** The reason of a `service_unavailable`, or undefined for another code. */
export function unavailableReason({ code, details }: ApiError): UnavailableReason | undefined {
  if (code !== 'service_unavailable') return undefined;
  return UNAVAILABLE_REASONS.find((reason) => reason === details?.['reason']);
}

/** Whether the same request can succeed after a while without anybody's help. */
export function endsByWaiting(error: ApiError): boolean {
  const reason = unavailableReason(error);
  return reason === undefined || !UNTIL_CONFIGURED.includes(reason);
}

/** The refusal after a provider's 429: the merchant waits as long as the provider asked. */
export function providerLimited(retryAfterMs: number): ApiError {
  const details = { reason: 'provider_rate_limited' } as const;
  const headers = { 'Retry-After': Math.ceil(retryAfterMs / 1_000).toString() };
  return new ApiError({ code: 'service_unavailable', details }, headers);
}

/** The refusal of a request with these invalid fields (422 `validation_failed`). */
export function validationFailed(fields: FieldError[]): ApiError {
  return new ApiError({ code: 'validation_failed', details: { fields } });
}
