/**
 * The result of one attempt at a webhook delivery, which is stored and shown to the merchant, and the
 * failures that become such a result.
 */

/**
 * Why an attempt failed. The sender never returns `worker_lost`: it is recorded later, for an attempt
 * whose worker died before it could report the result.
 */
export const ATTEMPT_ERROR_CODES = [
  'url_blocked',
  'dns_error',
  'connect_refused',
  'connect_timeout',
  'tls_error',
  'timeout',
  'headers_too_large',
  'protocol_error',
  'http_3xx',
  'http_4xx',
  'http_5xx',
  'connection_reset',
  'worker_lost',
] as const;
export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

/** Duration of each part in milliseconds; null for a part that was not reached or not needed. */
export interface AttemptTiming {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** The time from the established connection to the first byte of the response. */
  firstByteMs: number | null;
}

export interface AttemptResult {
  outcome: 'succeeded' | 'failed';
  /** The HTTP status, also of a failure; null without a valid response. */
  status: number | null;
  errorCode: AttemptErrorCode | null;
  /** A sentence for the merchant. It never contains an address that a host name resolved to. */
  error: string | null;
  startedAt: Date;
  durationMs: number;
  timing: AttemptTiming;
  /** The headers as sent, with the signature but not the secret. Empty if nothing was sent. */
  requestHeaders: Record<string, string>;
  /** At most 64 headers of at most 1 KB each, without cookies. */
  responseHeaders: [name: string, value: string][];
  /** The first 16 KiB as received. They may contain NUL and need not be text. */
  responseBody: Buffer;
  /** True if the body continued, or was cut off, after the stored part. */
  responseTruncated: boolean;
}

/**
 * A failed attempt: a code and a sentence for the merchant. The sentences are written here and never
 * taken from errors of Node, because those may contain addresses of the internal network.
 */
export class AttemptFailure extends Error {
  constructor(
    readonly code: AttemptErrorCode,
    sentence: string,
  ) {
    super(sentence);
  }
}

/** The failure for a forbidden address, which the sentence does not reveal. */
export function blocked(): AttemptFailure {
  return new AttemptFailure(
    'url_blocked',
    'The host resolves to an address that is not on the public internet. Nothing was sent.',
  );
}

export const CLOSED_EARLY = 'The connection was closed before a response was received.';
const RESET = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** The common TLS error codes of Node. */
const CERTIFICATE_FAULTS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate authority is not publicly trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'The certificate authority is not publicly trusted, or an intermediate certificate is missing.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate authority is not publicly trusted, or an intermediate certificate is missing.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is not valid for this host name.',
};

export function tlsFailure(error: unknown): AttemptFailure {
  const code = codeOf(error);
  if (RESET.has(code)) {
    return new AttemptFailure(
      'connection_reset',
      'The connection was closed during the TLS handshake.',
    );
  }
  const sentence = CERTIFICATE_FAULTS[code] ?? `The TLS handshake failed (${code}).`;
  return new AttemptFailure('tls_error', sentence);
}

/**
 * Translates an error of Node's HTTP client.
 * @throws the error itself if it is a programming error and not caused by the receiver
 */
export function exchangeFailure(error: unknown): AttemptFailure {
  const code = codeOf(error);
  if (error instanceof TypeError) throw error;
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new AttemptFailure('headers_too_large', 'The response headers are larger than 16 KiB.');
  }
  if (RESET.has(code)) {
    return new AttemptFailure('connection_reset', CLOSED_EARLY);
  }
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return tlsFailure(error);
  if (code === 'ETIMEDOUT')
    return new AttemptFailure('timeout', 'The receiver stopped responding.');
  return new AttemptFailure(
    'protocol_error',
    `The response is not valid HTTP/1.1${detail(error)}.`,
  );
}

/** The parser's reason, such as `Invalid status code`; it never quotes the receiver. */
function detail(error: unknown): string {
  const reason =
    typeof error === 'object' && error !== null && 'reason' in error ? error.reason : '';
  return typeof reason === 'string' && /^[A-Z][A-Za-z /-]{1,60}$/.test(reason)
    ? ` (${reason})`
    : '';
}

const NO_CODE = 'no code';

export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : NO_CODE;
}
