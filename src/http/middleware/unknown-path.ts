/**
 * What no route took: 405 when the path exists for other methods, else 404. Neither needs a key,
 * as neither tells anything that the documentation does not.
 */
import { ApiError } from '../../domain/errors';
import type { GatewayMiddleware } from '../context';

export const refuseUnknownPath: GatewayMiddleware = (ctx) => {
  const matched = (ctx.matched ?? []) as { methods: string[] }[];
  const allowed = new Set(matched.flatMap((layer) => layer.methods));
  if (allowed.size === 0) throw new ApiError('not_found', { resource: 'endpoint' });
  const allow = [...allowed].sort().join(', ');
  throw new ApiError(
    'method_not_allowed',
    { allowed: allow.split(', ') },
    { headers: { Allow: allow } },
  );
};
