/** Refuses a key that lacks the endpoint's scope (the specification, "Scopes"). */
import { ApiError } from '../../domain/errors';
import type { Scope } from '../../domain/scopes';
import type { GatewayMiddleware } from '../context';

export function requireScope(scope: Scope): GatewayMiddleware {
  return async (ctx, next) => {
    if (!ctx.state.caller.scopes.includes(scope)) {
      throw new ApiError('insufficient_scope', { required_scope: scope });
    }
    await next();
  };
}
