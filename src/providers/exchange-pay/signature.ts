/**
 * How Exchange Pay knows us: HMAC-SHA512 with the API key over `timestamp\nnonce\nbody\n`. The
 * key is never sent; the first 16 hex digits of its SHA-256 say which key it is.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';

export function signRequest(apiKey: string, body: string): Record<string, string> {
  const timestamp = String(Date.now());
  const nonce = randomBytes(16).toString('hex');
  const signature = createHmac('sha512', apiKey).update(`${timestamp}\n${nonce}\n${body}\n`);
  return {
    'exchangepay-key-id': createHash('sha256').update(apiKey).digest('hex').slice(0, 16),
    'exchangepay-timestamp': timestamp,
    'exchangepay-nonce': nonce,
    'exchangepay-signature': signature.digest('hex').toUpperCase(),
  };
}
