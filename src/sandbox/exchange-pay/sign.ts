/** How Exchange Pay signs a callback: base64 of HMAC-SHA512 over `timestamp\nnonce\nbody\n`. */
import { createHmac, randomBytes } from 'node:crypto';
import type { CallbackRequest } from '../callback-delivery';

export function signExchangePayCallback(body: string, secret: string): CallbackRequest {
  const timestamp = String(Date.now());
  const nonce = randomBytes(16).toString('hex');
  const signature = createHmac('sha512', secret)
    .update(`${timestamp}\n${nonce}\n${body}\n`)
    .digest('base64');
  return {
    headers: {
      'ExchangePay-Timestamp': timestamp,
      'ExchangePay-Nonce': nonce,
      'ExchangePay-Signature': signature,
    },
    body,
  };
}
