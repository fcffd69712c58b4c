/**
 * The Idempotency-Key header (the specification, "Limits") and the stored response (decisions/api#idempotency).
 */
import { ApiError } from '../../domain/errors';
import type { StoredResponse } from '../service/services';
import type { GatewayContext, GatewayMiddleware } from './context';

const KEY = /^[\x20-\x7e]{1,191}$/;

/** Stores the key on the state, after the validation of the body (decisions/api#order-of-checks). */
export function idempotent(): GatewayMiddleware {
  return async (ctx, next) => {
    // Node joins repeated headers with a comma, which would be a key that nobody sent.
    const [key, second] = ctx.req.headersDistinct['idempotency-key'] ?? [];
    if (key === undefined || second !== undefined || !KEY.test(key)) {
      throw new ApiError({ code: 'idempotency_key_required' });
    }
    ctx.state.idempotencyKey = key;
    await next();
  };
}

/** Sends a stored response byte for byte. */
export function writeStored(ctx: GatewayContext, answer: StoredResponse): void {
  if (answer.replayed) ctx.set('Idempotent-Replayed', 'true');
  ctx.status = answer.status;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = answer.body;
}
