/** Signs a webhook as the specification's "Signature verification" says. The sender calls it. */
import { createHmac } from 'node:crypto';

/**
 * The value of X-Gateway-Signature. The key is the secret's text as it was shown, prefix included
 * (decision H2).
 */
export function signWebhook(secret: string, timestampSeconds: number, body: Buffer): string {
  const t = String(timestampSeconds);
  const signature = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  return `t=${t},v1=${signature}`;
}
