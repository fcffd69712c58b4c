/**
 * Exchange Pay authenticates a caller by a signed request: HMAC-SHA512 with the API key over
 * `timestamp\nnonce\nbody\n`. The key itself is never sent; a digest of it identifies it.
 * A nonce is accepted once, so a recorded request cannot be sent again.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { BOOK_MODES, type BookMode, type CredentialsTable } from '../config';
import { isSameSecret } from '../../../platform/lib/same-secret';
import { wallClockMs } from '../../../platform/lib/wall-clock';

const CLOCK_TOLERANCE_MS = 60_000;
const NONCE = /^[A-Za-z0-9]{32}$/;

export class RequestAuthentication {
  /** Nonce → when it may be forgotten. */
  private readonly seen = new Map<string, number>();

  constructor(private readonly credentials: CredentialsTable) {}

  /** The mode of the key that signed; null when the request is not authentic. */
  authenticate(ctx: Context): BookMode | null {
    const timestamp = ctx.get('exchangepay-timestamp');
    const nonce = ctx.get('exchangepay-nonce');
    const keyId = ctx.get('exchangepay-key-id');
    const mode = BOOK_MODES.find((one) => {
      const apiKey = this.credentials.exchange_pay[one]?.apiKey;
      return apiKey !== undefined && isSameSecret(keyId, keyIdOf(apiKey));
    });
    const apiKey = mode === undefined ? undefined : this.credentials.exchange_pay[mode]?.apiKey;
    if (mode === undefined || apiKey === undefined) return null;
    if (!NONCE.test(nonce) || !/^[0-9]{13}$/.test(timestamp)) return null;
    if (Math.abs(wallClockMs() - Number(timestamp)) > CLOCK_TOLERANCE_MS) return null;

    const body = typeof ctx.request.rawBody === 'string' ? ctx.request.rawBody : '';
    const expected = createHmac('sha512', apiKey)
      .update(`${timestamp}\n${nonce}\n${body}\n`)
      .digest('hex')
      .toUpperCase();
    if (!isSameSecret(ctx.get('exchangepay-signature'), expected)) return null;
    return this.takeNonce(nonce) ? mode : null;
  }

  private takeNonce(nonce: string): boolean {
    const now = wallClockMs();
    // A Map keeps the order of insertion, so the oldest come first.
    for (const [old, until] of this.seen) {
      if (until > now) break;
      this.seen.delete(old);
    }
    if (this.seen.has(nonce)) return false;
    this.seen.set(nonce, now + 2 * CLOCK_TOLERANCE_MS);
    return true;
  }
}

function keyIdOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
}
