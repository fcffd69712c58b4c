/**
 * The errors that the SDK throws: one class per error code of the API, and two for requests without an
 * answer.
 */
import { ApiError, type ErrorFields, UnexpectedResponseError } from './api-error';
import type { ErrorCode } from './generated';
import { ERROR_CLASSES } from './generated-errors';

export * from './api-error';
export * from './generated-errors';

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
  const Known = Object.hasOwn(ERROR_CLASSES, code)
    ? (ERROR_CLASSES[code] as new (fields: ErrorFields<ErrorCode>) => ApiError)
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
