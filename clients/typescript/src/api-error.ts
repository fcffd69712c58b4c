/** What the errors of the SDK have in common; generated-errors.ts has one class for each error code. */
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
