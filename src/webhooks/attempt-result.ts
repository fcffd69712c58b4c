/** What one attempt at a delivery was: stored with the delivery and shown to the merchant. */

/**
 * Why an attempt failed. `worker_lost` is never the sender's word: it is written later, for an
 * attempt whose worker died before it could say how the attempt ended.
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

/** How long each part took, in milliseconds; null for a part that was not reached or not needed. */
export interface AttemptTiming {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** From the connection being ready to the first byte of the answer. */
  firstByteMs: number | null;
}

export interface AttemptResult {
  outcome: 'succeeded' | 'failed';
  /** The HTTP status, also of a failure; null when no answer was understood. */
  status: number | null;
  errorCode: AttemptErrorCode | null;
  /** A sentence for the merchant. It never names an address that a host name has. */
  error: string | null;
  startedAt: Date;
  durationMs: number;
  timing: AttemptTiming;
  /** As sent. They hold the signature but not the secret; empty when nothing was sent. */
  requestHeaders: Record<string, string>;
  /** At most 64, each at most 1 KB, without cookies. */
  responseHeaders: [name: string, value: string][];
  /** The first 16 KiB, as they came: they may hold NUL and need not be text. */
  responseBody: Buffer;
  /** True when the body went on, or was cut off, after what is kept. */
  responseTruncated: boolean;
}
