/** The Idempotency-Key header (the specification, "Limits"). */
import { ApiError } from '../domain/errors';
import type { GatewayContext } from './context';

const KEY = /^[\x20-\x7e]{1,191}$/;

/** @throws ApiError idempotency_key_required when absent, malformed or sent more than once */
export function readIdempotencyKey(ctx: GatewayContext): string {
  // Node would join repeated headers with a comma, and make a key that nobody chose.
  const [key, second] = ctx.req.headersDistinct['idempotency-key'] ?? [];
  if (key === undefined || second !== undefined || !KEY.test(key)) {
    throw new ApiError('idempotency_key_required');
  }
  return key;
}
