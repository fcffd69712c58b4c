/** What the middlewares leave on the context for those after them. */
import type { Middleware, ParameterizedContext } from 'koa';
import type { Caller } from '../services/services';

export interface GatewayState {
  /** Ours, `req_…`: on every answer and in every error body (decision W4). */
  requestId: string;
  /** Set by middleware/authenticate.ts; routes behind it can rely on it. */
  caller: Caller;
  /** Set by middleware/json-body.ts: the body's object, numbers as LosslessNumber. */
  json: Record<string, unknown>;
}

export type GatewayMiddleware = Middleware<GatewayState>;
export type GatewayContext = ParameterizedContext<GatewayState>;

/** The pattern of the route that took the request, such as `/api/v1/payouts/:id`. */
export function routePattern(ctx: GatewayContext): string {
  const route: unknown = ctx._matchedRoute;
  return typeof route === 'string' ? route : 'none';
}
