/** A class for each error code. Written by `npm run openapi` from the catalogue: do not edit. */
import { ApiError, type ErrorFields } from './api-error';
import type { ErrorCode } from './generated';

export class AccountSuspendedError extends ApiError<'account_suspended'> {}
export class AuthenticationRequiredError extends ApiError<'authentication_required'> {}
export class CurrencyNotAllowedError extends ApiError<'currency_not_allowed'> {}
export class CursorExpiredError extends ApiError<'cursor_expired'> {}
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
export class RefundExceedsPaymentError extends ApiError<'refund_exceeds_payment'> {}
export class ReleaseNotAllowedError extends ApiError<'release_not_allowed'> {}
export class RequestInProgressError extends ApiError<'request_in_progress'> {}
export class RowsRefusedError extends ApiError<'rows_refused'> {}
export class ServiceUnavailableError extends ApiError<'service_unavailable'> {}
export class TooManyObjectsError extends ApiError<'too_many_objects'> {}
export class UnsupportedMediaTypeError extends ApiError<'unsupported_media_type'> {}
export class ValidationFailedError extends ApiError<'validation_failed'> {}

/** The class of each error code. */
export const ERROR_CLASSES: {
  [Code in ErrorCode]: new (fields: ErrorFields<Code>) => ApiError<Code>;
} = {
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
  refund_exceeds_payment: RefundExceedsPaymentError,
  release_not_allowed: ReleaseNotAllowedError,
  request_in_progress: RequestInProgressError,
  rows_refused: RowsRefusedError,
  service_unavailable: ServiceUnavailableError,
  too_many_objects: TooManyObjectsError,
  unsupported_media_type: UnsupportedMediaTypeError,
  validation_failed: ValidationFailedError,
};
