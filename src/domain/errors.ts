/**
 * Every refusal the API can give, in one catalogue: code → status and sentence. A refusal is
 * expected and tells the caller what to do; anything else that is thrown is an operating fault
 * (the client or Temporal tries again) or a programmer's error.
 *
 * Source: the specification, "Errors", and decisions W5–W9.
 */
export const ERRORS = {
  invalid_json: [400, 'The body is not valid JSON. Send one JSON object, encoded as UTF-8.'],
  idempotency_key_required: [
    400,
    'Send an Idempotency-Key header with 1 to 191 printable ASCII characters.',
  ],
  authentication_required: [401, 'Send your API key in the header "Authorization: Bearer <key>".'],
  invalid_api_key: [
    401,
    'This API key is not valid: it is mistyped, expired or revoked. Use a current key.',
  ],
  invalid_signature: [
    401,
    'The signature of this callback is not valid. Sign it with the secret of this provider and mode.',
  ],
  ip_not_allowed: [
    403,
    'This API key may not be used from your address. Add the address to its allowlist.',
  ],
  insufficient_scope: [
    403,
    'This API key lacks the scope in details.required_scope. Use a key that carries it.',
  ],
  account_suspended: [403, 'This merchant account is suspended. Contact the operator.'],
  not_found: [404, 'There is nothing here. Check the path and the id.'],
  method_not_allowed: [405, 'This path does not take this method. See the Allow header.'],
  invalid_state: [
    409,
    'The object is in a state that does not allow this. Read it again before you decide.',
  ],
  duplicate_reference: [
    409,
    'This reference already belongs to another object, see details.existing_id. Use a new reference.',
  ],
  request_in_progress: [
    409,
    'A request with this Idempotency-Key is still running. Send it again after Retry-After seconds.',
  ],
  payload_too_large: [413, 'The body is larger than 64 KiB. Send a smaller one.'],
  unsupported_media_type: [415, 'Send the body as "Content-Type: application/json".'],
  validation_failed: [422, 'Some fields are not valid. Correct those in details.fields.'],
  idempotency_key_reused: [
    422,
    'This Idempotency-Key was used with a different request. Use a new key for a new request.',
  ],
  insufficient_balance: [
    422,
    'The available balance does not cover amount plus fees, see details. Top up or ask for less.',
  ],
  destination_not_supported: [
    422,
    'No enabled provider can pay this currency to this destination type, see details.',
  ],
  network_required: [422, 'Name the network for this currency, one of details.networks.'],
  limit_exceeded: [
    422,
    'The payout would pass a limit of your account, see details. Ask for less or wait.',
  ],
  rate_limited: [429, 'Too many requests. Send the next one after Retry-After seconds.'],
  internal_error: [
    500,
    'Something failed on our side. Send the request again with the same Idempotency-Key.',
  ],
  service_unavailable: [
    503,
    'This cannot be done at the moment. Send it again after Retry-After seconds with the same Idempotency-Key.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
export type ErrorDetails = Record<string, unknown>;

/** A refusal as plain data, so that a workflow can return it (a thrown error would not do). */
export interface Refusal {
  code: ErrorCode;
  details?: ErrorDetails;
  message?: string;
}

/** A refusal on its way to the client. Only http/middleware/errors.ts writes it to the wire. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  /** Extra response headers, such as Retry-After. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    details?: ErrorDetails,
    options: { message?: string; headers?: Record<string, string> } = {},
  ) {
    const [status, message] = ERRORS[code];
    super(options.message ?? message);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.details = details;
    this.headers = options.headers ?? {};
  }

  static fromRefusal(refusal: Refusal): ApiError {
    return new ApiError(
      refusal.code,
      refusal.details,
      refusal.message === undefined ? {} : { message: refusal.message },
    );
  }
}

/** The rules that a field can break (decision W7). */
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
] as const;
export type FieldRule = (typeof FIELD_RULES)[number];

export interface FieldError {
  field: string;
  rule: FieldRule;
  message: string;
}

export function validationFailed(fields: FieldError[]): ApiError {
  return new ApiError('validation_failed', { fields });
}
