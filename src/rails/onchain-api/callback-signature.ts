import { createHmac } from 'node:crypto';
import { wallClockMs } from '../../platform/lib/wall-clock';

/** `Onchain-Signature: t=<seconds>,s=<hex HMAC-SHA256 of t.body>` */
export function signCallback(body: string, secret: string): Record<string, string> {
  const seconds = String(Math.floor(wallClockMs() / 1000));
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { 'Onchain-Signature': `t=${seconds},s=${signature}` };
}
