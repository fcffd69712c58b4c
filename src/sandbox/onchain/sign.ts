/** How the on-chain provider signs a callback: `Onchain-Signature: t=<seconds>,s=<hex HMAC-SHA256 of t.body>`. */
import { createHmac } from 'node:crypto';
import type { CallbackRequest } from '../callback-delivery';

export function signOnchainCallback(body: string, secret: string): CallbackRequest {
  const seconds = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { headers: { 'Onchain-Signature': `t=${seconds},s=${signature}` }, body };
}
