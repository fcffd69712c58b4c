/**
 * Verifies a webhook at the receiver: that the gateway sent it, that it is recent, and which event it
 * is. Merchants import it as `payments-gateway/webhooks`. It only needs Node's crypto, so it can be
 * copied as a single file. Source: the specification, "Signature verification".
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type WebhookErrorCode =
  /** X-Gateway-Signature or X-Gateway-Event-Id is missing. */
  | 'missing_header'
  /** X-Gateway-Signature is not `t=…,v1=…`. */
  | 'malformed_signature'
  /** The secret is a different one, or the body differs from the bytes that were sent. */
  | 'no_matching_signature'
  /** The signature is too old: a replay, or the receiver's clock is ahead. */
  | 'timestamp_too_old'
  /** The signature is from the future: the receiver's clock is behind. */
  | 'timestamp_too_new'
  /** The body is signed, and is not a webhook event. */
  | 'malformed_body'
  /** X-Gateway-Event-Id, which is not signed, differs from the id in the signed body. */
  | 'event_id_mismatch';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly code: WebhookErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** The event from the signed body. */
export interface WebhookEvent {
  /** `evt_…`, the same in every attempt: skip events that you have already processed. */
  id: string;
  type: string;
  mode: 'test' | 'live';
  created_at: string;
  /** Increases with each change of an object: ignore an older event that arrives late. */
  sequence: number;
  /** The payment or payout as the API returns it. */
  data: Record<string, unknown>;
}

/** `req.headers` of Node and Express, or a `Headers` object. Names may be in any case. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get: (name: string) => string | null };

export interface VerifyOptions {
  /** Maximum difference between the gateway's clock and yours; default 300. */
  toleranceSeconds?: number;
  /** The current time by default. Tests set another one. */
  now?: Date;
}

const TOLERANCE_SECONDS = 300;
const SIGNATURE = 'X-Gateway-Signature';
const EVENT_ID = 'X-Gateway-Event-Id';

/**
 * Returns the event if the webhook is authentic and recent.
 * @param rawBody the body as received, before any JSON parser
 * @param secret the endpoint's secret as shown, including `whsec_`; several while you roll it
 * @throws WebhookVerificationError whose `code` is the reason; respond with 400
 * @throws TypeError for invalid arguments, which would reject or accept every webhook
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: VerifyOptions = {},
): WebhookEvent {
  const body = readBody(rawBody);
  const secrets = readSecrets(secret);
  checkOptions(toleranceSeconds, now);
  const { t, signatures } = readSignature(requireHeader(headers, SIGNATURE));
  const eventId = requireHeader(headers, EVENT_ID);
  if (!matchesAny(signatures, expectedSignatures(secrets, t, body))) {
    throw new WebhookVerificationError(
      'no_matching_signature',
      'No signature matches: the secret is not the endpoint’s, or the body is not the raw body.',
    );
  }
  checkTime(t, now, toleranceSeconds);
  return readEvent(body, eventId);
}

/**
 * The value of X-Gateway-Signature, for tests of a receiver (the specification, "Signature
 * verification"). The HMAC key is the secret as shown, including its prefix.
 */
export function signWebhook(
  secret: string,
  timestampSeconds: number,
  rawBody: string | Uint8Array,
): string {
  const t = String(timestampSeconds);
  const signature = createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest('hex');
  return `t=${t},v1=${signature}`;
}

function readBody(rawBody: string | Uint8Array): Buffer {
  if (typeof rawBody === 'string') return Buffer.from(rawBody, 'utf8');
  if (rawBody instanceof Uint8Array) return Buffer.from(rawBody);
  throw new TypeError('rawBody must be the body as received (bytes or text), not parsed JSON.');
}

function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  // With an empty key anybody could sign, so an unset variable must not be accepted.
  if (secrets.length > 0 && secrets.every((each) => typeof each === 'string' && each !== '')) {
    return secrets;
  }
  throw new TypeError('secret must be one or more endpoint secrets; it is missing or empty.');
}

/** Refuses NaN: every comparison with it is false, so a webhook of any age would be accepted. */
function checkOptions(toleranceSeconds: number, now: Date): void {
  if (typeof toleranceSeconds !== 'number' || !(toleranceSeconds >= 0)) {
    throw new TypeError('toleranceSeconds must be a number, 0 or greater.');
  }
  if (!(now instanceof Date) || Number.isNaN(now.getTime())) {
    throw new TypeError('now must be a valid Date.');
  }
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name);
  if (value !== '') return value;
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`);
}

function findHeader(headers: WebhookHeaders, name: string): string {
  if (isHeadersObject(headers)) return headers.get(name) ?? '';
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name.toLowerCase())
    .flatMap(([, value]) => value ?? [])
    .join(',');
}

function isHeadersObject(
  headers: WebhookHeaders,
): headers is { get: (name: string) => string | null } {
  return typeof headers.get === 'function';
}

/** Other parts than `t` and `v1` are reserved for future schemes and ignored. */
function readSignature(header: string): { t: string; signatures: Buffer[] } {
  const parts = header.split(',').map((part) => /^\s*([^=]+)=(.*?)\s*$/.exec(part));
  const valuesOf = (key: string): string[] =>
    parts.flatMap((part) => (part?.[1] === key ? [part[2] ?? ''] : []));
  const [t, ...furtherTimes] = valuesOf('t');
  const signatures = valuesOf('v1');
  const isWellFormed =
    !parts.includes(null) &&
    t !== undefined &&
    furtherTimes.length === 0 &&
    /^\d{1,12}$/.test(t) &&
    signatures.length > 0 &&
    signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature));
  if (isWellFormed) return { t, signatures: signatures.map((hex) => Buffer.from(hex, 'hex')) };
  throw new WebhookVerificationError(
    'malformed_signature',
    `${SIGNATURE} must look like t=1700000000,v1=<64 hexadecimal digits>.`,
  );
}

function expectedSignatures(secrets: readonly string[], t: string, body: Buffer): Buffer[] {
  return secrets.map((secret) =>
    createHmac('sha256', secret).update(`${t}.`).update(body).digest(),
  );
}

/** Compares all pairs, so that the duration does not reveal which one matches. */
function matchesAny(given: readonly Buffer[], expected: readonly Buffer[]): boolean {
  let matches = 0;
  for (const signature of given) {
    for (const candidate of expected) matches += timingSafeEqual(signature, candidate) ? 1 : 0;
  }
  return matches > 0;
}

function checkTime(t: string, now: Date, toleranceSeconds: number): void {
  const age = Math.floor(now.getTime() / 1000) - parseInt(t, 10);
  if (age > toleranceSeconds) {
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `The webhook was signed ${age} seconds ago; the maximum is ${toleranceSeconds}.`,
    );
  }
  if (age < -toleranceSeconds) {
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `The webhook was signed ${-age} seconds in the future; check the clock of this machine.`,
    );
  }
}

function readEvent(body: Buffer, eventId: string): WebhookEvent {
  const event = parseEvent(body);
  if (event === null) {
    throw new WebhookVerificationError('malformed_body', 'The body is not a webhook event.');
  }
  // Receivers skip processed ids: a replay under a new id would be processed twice.
  if (event.id !== eventId) {
    throw new WebhookVerificationError(
      'event_id_mismatch',
      `${EVENT_ID} differs from the event id in the signed body.`,
    );
  }
  return event;
}

function parseEvent(body: Buffer): WebhookEvent | null {
  try {
    const event = JSON.parse(body.toString('utf8')) as Partial<WebhookEvent> | null;
    const isEvent = typeof event?.id === 'string' && typeof event.type === 'string';
    return isEvent ? (event as WebhookEvent) : null;
  } catch {
    return null;
  }
}
