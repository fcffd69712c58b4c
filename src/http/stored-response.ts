/** Writes a stored answer byte for byte (decision I2). */
import type { StoredResponse } from '../services/services';
import type { GatewayContext } from './context';

export function writeStored(ctx: GatewayContext, answer: StoredResponse): void {
  if (answer.replayed) ctx.set('Idempotent-Replayed', 'true');
  ctx.status = answer.status;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = answer.body;
}
