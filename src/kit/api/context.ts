/** The state that the middlewares store on the context for the following ones. */
import type { DefaultContext, Middleware, ParameterizedContext } from 'koa';
import { ApiError, type ErrorCode, type UnavailableReason } from '../../domain/errors';
import { type IdKind, isId } from '../../domain/ids';
import type { ChangedBy } from '../service/audit';
import type { Caller } from '../service/services';

export interface GatewayState {
  /** Our id, `req_…`, on every response and in every error body (decisions/api#request-ids). */
  requestId: string;
  /** Set by auth.ts; routes behind it can rely on it. */
  caller: Caller;
  /** The client's address; empty if it is unknown. Set by auth.ts. */
  address: string;
  /** Set by idempotency-key.ts. */
  idempotencyKey: string;
  /** The code of the error body, if there is one. Set by write-errors.ts. */
  errorCode: ErrorCode;
  /** The reason of a `service_unavailable`. Set by write-errors.ts. */
  errorReason: UnavailableReason | undefined;
}

export type GatewayMiddleware = Middleware<GatewayState>;
export type GatewayContext = ParameterizedContext<GatewayState>;

/** Who makes a change, for the audit log. */
export function changedBy({ caller, address }: GatewayState): ChangedBy {
  return { actor: caller.apiKeyId, reason: null, via: 'api', address };
}

/** The pattern of the matching route, such as `/api/v1/payouts/:id`. */
export function routePattern(ctx: GatewayContext): string {
  const route: unknown = ctx._matchedRoute;
  return typeof route === 'string' ? route : 'none';
}

/**
 * The id in the path. A malformed id gets the same error as an unknown one (decisions/api#errors).
 * @throws ApiError not_found
 */
export function pathId(kind: IdKind, ctx: DefaultContext): string {
  const { id } = ctx['params'] as { id?: string };
  if (id === undefined || !isId(kind, id)) {
    const resource = kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    throw new ApiError({ code: 'not_found', details: { resource } });
  }
  return id;
}
