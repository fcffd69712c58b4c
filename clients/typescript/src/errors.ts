/**
 * The errors that the SDK throws: one class per error code of the API, and two for requests without an
 * answer.
 */
import type { ErrorCode, ErrorDetails } from './generated';

/** Every error of the SDK, except a TypeError for invalid arguments and the reason of an abort. */
export class GatewayError extends Error {
  override name = 'GatewayError';
  /** The key of the call that failed, for calls that have one: repeat the call with it. */
  idempotencyKey: string | undefined;
}

/**
 * The gateway could not be reached, or did not answer in time. The request may have been processed:
 * repeat it with the same idempotency key.
 */
export class ConnectionError extends GatewayError {
  override name = 'ConnectionError';
}

/** An answer that is not the gateway's, such as the error page of a proxy. */
export class UnexpectedResponseError extends GatewayError {
  override name = 'UnexpectedResponseError';

  /** The media type of the answer; null: it named none. */
  readonly contentType: string | null;
  /** The request ID of the gateway; null: the answer has none, so it is probably a proxy's. */
  readonly requestId: string | null;

  constructor(
    readonly status: number,
    readonly body: string,
    headers: Headers = new Headers(),
  ) {
    const contentType = headers.get('content-type');
    const what = `The answer with status ${status} and ${contentType ?? 'no content type'}`;
    super(`${what} is not the gateway's: ${body === '' ? 'it is empty.' : body.slice(0, 200)}`);
    this.contentType = contentType;
    this.requestId = headers.get('x-request-id');
  }
}

export interface ErrorFields<Code extends ErrorCode> {
  code: Code;
  message: string;
  status: number;
  details: ErrorDetails[Code];
  /** `req_…`: give it to the operator when you report a problem. */
  requestId: string;
  /** The page about the error code. */
  docUrl: string | undefined;
}

/** The gateway refused the request. `code` is for programs, `message` says what to do. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends GatewayError {
  override name = 'ApiError';
  readonly code: Code;
  readonly status: number;
  readonly details: ErrorDetails[Code];
  readonly requestId: string;
  readonly docUrl: string | undefined;

  constructor({ code, message, status, details, requestId, docUrl }: ErrorFields<Code>) {
    super(message);
    this.name = this.constructor.name;
    this.code = code;
    this.status = status;
    this.details = details;
    this.requestId = requestId;
    this.docUrl = docUrl;
  }
}

export class AccountSuspendedError extends ApiError<'account_suspended'> {}
export class AuthenticationRequiredError extends ApiError<'authentication_required'> {}
export class CursorExpiredError extends ApiError<'cursor_expired'> {}
export class CurrencyNotAllowedError extends ApiError<'currency_not_allowed'> {}
export class DestinationNotSupportedError extends ApiError<'destination_not_supported'> {}
export class DuplicateReferenceError extends ApiError<'duplicate_reference'> {}
export class IdempotencyKeyRequiredError extends ApiError<'idempotency_key_required'> {}
export class IdempotencyKeyReusedError extends ApiError<'idempotency_key_reused'> {}
export class InsufficientBalanceError extends ApiError<'insufficient_balance'> {}
export class InsufficientScopeError extends ApiError<'insufficient_scope'> {}
export class InternalError extends ApiError<'internal_error'> {}
export class InvalidApiKeyError extends ApiError<'invalid_api_key'> {}
export class InvalidJsonError extends ApiError<'invalid_json'> {}
export class InvalidStateError extends ApiError<'invalid_state'> {}
export class IpNotAllowedError extends ApiError<'ip_not_allowed'> {}
export class KeyChangeNotAllowedError extends ApiError<'key_change_not_allowed'> {}
export class LimitExceededError extends ApiError<'limit_exceeded'> {}
export class NetworkRequiredError extends ApiError<'network_required'> {}
export class NotFoundError extends ApiError<'not_found'> {}
export class PayloadTooLargeError extends ApiError<'payload_too_large'> {}
export class RateLimitedError extends ApiError<'rate_limited'> {}
export class RecipientNotReadyError extends ApiError<'recipient_not_ready'> {}
export class RecipientRequiredError extends ApiError<'recipient_required'> {}
export class ReleaseNotAllowedError extends ApiError<'release_not_allowed'> {}
export class RequestInProgressError extends ApiError<'request_in_progress'> {}
export class RowsRefusedError extends ApiError<'rows_refused'> {}
export class RefundExceedsPaymentError extends ApiError<'refund_exceeds_payment'> {}
export class ServiceUnavailableError extends ApiError<'service_unavailable'> {}
export class TooManyObjectsError extends ApiError<'too_many_objects'> {}
export class UnsupportedMediaTypeError extends ApiError<'unsupported_media_type'> {}
export class ValidationFailedError extends ApiError<'validation_failed'> {}

const BY_CODE: { [Code in ErrorCode]: new (fields: ErrorFields<Code>) => ApiError<Code> } = {
  account_suspended: AccountSuspendedError,
  authentication_required: AuthenticationRequiredError,
  currency_not_allowed: CurrencyNotAllowedError,
  cursor_expired: CursorExpiredError,
  destination_not_supported: DestinationNotSupportedError,
  duplicate_reference: DuplicateReferenceError,
  idempotency_key_required: IdempotencyKeyRequiredError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  insufficient_balance: InsufficientBalanceError,
  insufficient_scope: InsufficientScopeError,
  internal_error: InternalError,
  invalid_api_key: InvalidApiKeyError,
  invalid_json: InvalidJsonError,
  invalid_state: InvalidStateError,
  ip_not_allowed: IpNotAllowedError,
  key_change_not_allowed: KeyChangeNotAllowedError,
  limit_exceeded: LimitExceededError,
  network_required: NetworkRequiredError,
  not_found: NotFoundError,
  payload_too_large: PayloadTooLargeError,
  rate_limited: RateLimitedError,
  recipient_not_ready: RecipientNotReadyError,
  recipient_required: RecipientRequiredError,
  release_not_allowed: ReleaseNotAllowedError,
  request_in_progress: RequestInProgressError,
  rows_refused: RowsRefusedError,
  refund_exceeds_payment: RefundExceedsPaymentError,
  service_unavailable: ServiceUnavailableError,
  too_many_objects: TooManyObjectsError,
  unsupported_media_type: UnsupportedMediaTypeError,
  validation_failed: ValidationFailedError,
};

/** The error of an answer that was not 2xx. A code of a newer gateway becomes a plain ApiError. */
export function errorOf(
  status: number,
  text: string,
  headers?: Headers,
): ApiError | UnexpectedResponseError {
  const error = readError(text);
  if (error === null) return new UnexpectedResponseError(status, text, headers);
  const { code, message, details, request_id: requestId, doc_url: docUrl } = error;
  // These are the types of the API, where `details` belongs to `code`.
  const fields = { code, message, status, details, requestId, docUrl } as ErrorFields<ErrorCode>;
  const Known = Object.hasOwn(BY_CODE, code)
    ? (BY_CODE[code] as new (fields: ErrorFields<ErrorCode>) => ApiError)
    : ApiError;
  return new Known(fields);
}

interface ErrorBody {
  code: ErrorCode;
  message: string;
  details?: object;
  request_id: string;
  doc_url?: string;
}

function readError(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorBody> };
    const isOurs = typeof error?.code === 'string' && typeof error.message === 'string';
    return isOurs ? (error as ErrorBody) : null;
  } catch {
    return null;
  }
}
