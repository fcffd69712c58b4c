/**
 * The receiver's side of a webhook: is it ours, is it fresh, and which event is it? For merchants,
 * whose programs import it as `payments-gateway/webhooks`, so it needs nothing but Node's crypto and
 * can be copied as a single file. The rules are the specification's "Signature verification".
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type WebhookErrorCode =
  /** X-Gateway-Signature or X-Gateway-Event-Id is not there. */
  | 'missing_header'
  /** X-Gateway-Signature is not `t=…,v1=…`. */
  | 'malformed_signature'
  /** Another secret, or a body that is not the one that was sent, byte for byte. */
  | 'no_matching_signature'
  /** Signed too long ago: a replay, or a clock that is ahead. */
  | 'timestamp_too_old'
  /** Signed in the future: a clock that is behind. */
  | 'timestamp_too_new'
  /** Signed, but not an event. */
  | 'malformed_body'
  /** X-Gateway-Event-Id, which is not signed, is not the id in the body, which is. */
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

/** The event, read from the body that was signed. */
export interface WebhookEvent {
  /** `evt_…`, the same in every repetition: skip the ones that were handled already. */
  id: string;
  type: string;
  mode: 'test' | 'live';
  created_at: string;
  /** Grows with each change of one object, so that an older event that comes late can be dropped. */
  sequence: number;
  /** The payment or payout as the API returns it. */
  data: Record<string, unknown>;
}

/** Node's and Express's `req.headers`, or what `fetch` and its kin have. Names in any case. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get: (name: string) => string | null };

export interface VerifyOptions {
  /** How far the sender's clock and yours may be apart; 300 by the specification. */
  toleranceSeconds?: number;
  /** For tests; the present otherwise. */
  now?: Date;
}

const TOLERANCE_SECONDS = 300;
const SIGNATURE = 'X-Gateway-Signature';
const EVENT_ID = 'X-Gateway-Event-Id';

/**
 * The event, when the webhook is genuine and fresh.
 * @param rawBody as it was received, before any JSON parser
 * @param secret the endpoint's secret as it was shown, `whsec_` included; several while you change it
 * @throws WebhookVerificationError whose `code` says which part is wrong; answer 400 then
 * @throws TypeError for arguments with which nothing could ever be verified, or anything
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
      'No signature fits: the secret is not the endpoint’s, or the body is not the raw body.',
    );
  }
  checkTime(t, now, toleranceSeconds);
  return readEvent(body, eventId);
}

function readBody(rawBody: string | Uint8Array): Buffer {
  if (typeof rawBody === 'string') return Buffer.from(rawBody, 'utf8');
  if (rawBody instanceof Uint8Array) return Buffer.from(rawBody);
  throw new TypeError('rawBody must be the bytes or the text as received, not parsed JSON.');
}

function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  // With an empty key anybody could sign: a variable that is not set must not open the door.
  if (secrets.length > 0 && secrets.every((each) => typeof each === 'string' && each !== '')) {
    return secrets;
  }
  throw new TypeError('secret must be the endpoint’s secret, or several; it is missing or empty.');
}

/** What is no number is neither above nor below a limit: every age would pass. */
function checkOptions(toleranceSeconds: number, now: Date): void {
  if (typeof toleranceSeconds !== 'number' || !(toleranceSeconds >= 0)) {
    throw new TypeError('toleranceSeconds must be a number of seconds, 0 or more.');
  }
  if (!(now instanceof Date) || Number.isNaN(now.getTime())) {
    throw new TypeError('now must be a Date with a valid time.');
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

/** Parts other than `t` and `v1` are left for schemes to come. */
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

/** Compares all with all, so that the time tells nothing about which one fits. */
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
      `The webhook was signed ${age} seconds ago; at most ${toleranceSeconds} are accepted.`,
    );
  }
  if (age < -toleranceSeconds) {
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `The webhook was signed ${-age} seconds ahead of this deadline; is the deadline right?`,
    );
  }
}

function readEvent(body: Buffer, eventId: string): WebhookEvent {
  const event = parseEvent(body);
  if (event === null) {
    throw new WebhookVerificationError('malformed_body', 'The body is not a webhook event.');
  }
  // Receivers skip ids that they have handled: a replay under a new id would be handled twice.
  if (event.id !== eventId) {
    throw new WebhookVerificationError(
      'event_id_mismatch',
      `${EVENT_ID} is not the id in the body, which is the one that was signed.`,
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
