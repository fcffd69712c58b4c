/**
 * Verifies the on-chain provider's callbacks:
 * `Onchain-Signature: t=<unix seconds>,s=<hex HMAC-SHA256 of t, a period and the raw body>`.
 */
import { createHmac } from 'node:crypto';
import { parse } from 'lossless-json';
import { lookUp, readMember, readText } from '../answer-reader';
import {
  isRecent,
  isReference,
  isSameSignature,
  readHeader,
  type CallbackHeaders,
} from '../callback-check';
import type { CallbackHint } from '../port';

const SIGNATURE = /^t=([0-9]{1,12}),s=([0-9a-f]{64})$/;

export function readOnchainCallback(
  secret: string,
  headers: CallbackHeaders,
  rawBody: Buffer,
): CallbackHint | null {
  const [, seconds, signature] =
    SIGNATURE.exec(readHeader(headers, 'onchain-signature') ?? '') ?? [];
  if (seconds === undefined || signature === undefined) return null;
  const expected = createHmac('sha256', secret).update(`${seconds}.`).update(rawBody).digest();
  if (!isSameSignature(Buffer.from(signature, 'hex'), expected)) return null;
  return isRecent(BigInt(seconds) * 1000n) ? readHint(rawBody.toString('utf8')) : null;
}

const OBJECTS: Readonly<Record<string, 'payout' | 'payment'>> = {
  transfer: 'payout',
  checkout: 'payment',
};

function readHint(text: string): CallbackHint {
  try {
    const data = readMember(parse(text), 'data');
    const reference = readText(data, 'client_reference');
    const object = lookUp(OBJECTS, readText(data, 'object'));
    if (object !== undefined && isReference(reference)) return { object, reference };
  } catch {
    // Signed but not JSON: sending it again would change nothing.
  }
  return { object: 'other' };
}
