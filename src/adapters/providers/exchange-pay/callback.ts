/**
 * Verifies Exchange Pay's callbacks: base64 of HMAC-SHA512 over `timestamp\nnonce\nraw body\n`,
 * time in milliseconds. The transfer or order is JSON text inside the JSON body.
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

const TIMESTAMP = /^[0-9]{1,15}$/;
const NONCE = /^[A-Za-z0-9]{1,64}$/;

export function readExchangePayCallback(
  secret: string,
  headers: CallbackHeaders,
  rawBody: Buffer,
): CallbackHint | null {
  const timestamp = readHeader(headers, 'exchangepay-timestamp') ?? '';
  const nonce = readHeader(headers, 'exchangepay-nonce') ?? '';
  const signature = readHeader(headers, 'exchangepay-signature') ?? '';
  if (!TIMESTAMP.test(timestamp) || !NONCE.test(nonce)) return null;
  const expected = createHmac('sha512', secret)
    .update(`${timestamp}\n${nonce}\n`)
    .update(rawBody)
    .update('\n')
    .digest('base64');
  // Compared as text: the same bytes have several base64 encodings, and only one was sent.
  if (!isSameSignature(Buffer.from(signature), Buffer.from(expected))) return null;
  return isRecent(BigInt(timestamp)) ? readHint(rawBody.toString('utf8')) : null;
}

const KINDS: Readonly<Record<string, { object: 'payout' | 'payment'; referenceName: string }>> = {
  PAYOUT: { object: 'payout', referenceName: 'merchantTransferId' },
  PAY: { object: 'payment', referenceName: 'merchantOrderId' },
};

function readHint(text: string): CallbackHint {
  try {
    const envelope = parse(text);
    const inner = readMember(envelope, 'data');
    const kind = lookUp(KINDS, readText(envelope, 'bizType'));
    if (kind !== undefined && typeof inner === 'string') {
      const reference = readText(parse(inner), kind.referenceName);
      if (isReference(reference)) return { object: kind.object, reference };
    }
  } catch {
    // Signed but not JSON: sending it again would change nothing.
  }
  return { object: 'other' };
}
