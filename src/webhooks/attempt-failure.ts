/**
 * Why an attempt failed, as its parts throw it: a code and a sentence that the merchant may read.
 * The sentences are made here and never taken from an error of Node's or undici's, because those
 * name addresses, and an address of our own network is nobody's business.
 */
import type { AttemptErrorCode } from './attempt-result';

export class AttemptFailure extends Error {
  constructor(
    readonly code: AttemptErrorCode,
    sentence: string,
  ) {
    super(sentence);
  }
}

/** For an address that is not allowed. The sentence does not say which one it was. */
export function blocked(): AttemptFailure {
  return new AttemptFailure(
    'url_blocked',
    'The URL’s host has an address that is not on the public internet, so nothing was sent.',
  );
}

const RESET = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);

/** What is wrong with a certificate, for the codes that people meet. */
const CERTIFICATE_TROUBLE: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate’s authority is not one that is publicly trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'The certificate’s authority is not publicly trusted, or an intermediate certificate is missing.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate’s authority is not publicly trusted, or an intermediate certificate is missing.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
};

export function tlsFailure(error: unknown): AttemptFailure {
  const code = codeOf(error);
  if (RESET.has(code)) {
    return new AttemptFailure(
      'connection_reset',
      'The connection was closed during the TLS handshake.',
    );
  }
  const trouble = CERTIFICATE_TROUBLE[code] ?? `The TLS handshake failed (${code}).`;
  return new AttemptFailure('tls_error', trouble);
}

/**
 * For what undici says of an exchange.
 * @throws the error itself when it is a mistake of ours and not something the receiver did
 */
export function exchangeFailure(error: unknown): AttemptFailure {
  const code = codeOf(error);
  if (error instanceof TypeError || code === 'UND_ERR_INVALID_ARG') throw error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new AttemptFailure('headers_too_large', 'The answer’s headers are larger than 16 KiB.');
  }
  const { message } = error as Error;
  // Undici reports an answer nobody asked for with the code of a closed connection.
  if (RESET.has(code) && !/^bad (response|upgrade)$/.test(message)) {
    return new AttemptFailure(
      'connection_reset',
      'The connection was closed before an answer came.',
    );
  }
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return tlsFailure(error);
  if (code === 'ETIMEDOUT') return new AttemptFailure('timeout', 'The receiver stopped answering.');
  return new AttemptFailure(
    'protocol_error',
    `The answer is not valid HTTP/1.1${detail(message)}.`,
  );
}

/** The parser's own reason, such as `Invalid status code`, which never quotes the receiver. */
function detail(message: string): string {
  const [, reason] =
    /^Response does not match the HTTP\/1.1 protocol (\(.+\))$/.exec(message) ?? [];
  return reason === undefined ? '' : ` ${reason}`;
}

const NO_CODE = 'no code';

export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : NO_CODE;
}
