/** What the callback verification of every adapter has in common. */
import { timingSafeEqual } from 'node:crypto';
import { wallClockMs } from '../../platform/lib/wall-clock';

/** A callback's time may differ from ours by this much, either way; older ones may be recordings. */
const CALLBACK_TOLERANCE_MS = 300_000n;

export type CallbackHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Null when the header is absent or repeated. `name` in lower case, as Node gives them. */
export function readHeader(headers: CallbackHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

export function isRecent(unixTimeMs: bigint): boolean {
  const ageMs = BigInt(wallClockMs()) - unixTimeMs;
  return ageMs <= CALLBACK_TOLERANCE_MS && ageMs >= -CALLBACK_TOLERANCE_MS;
}

/** Constant-time; the length of a signature is no secret. */
export function isSameSignature(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const REFERENCE = /^[A-Za-z0-9_-]{1,64}$/;

export function isReference(text: string | undefined): text is string {
  return text !== undefined && REFERENCE.test(text);
}
