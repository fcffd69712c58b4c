/** A request belongs to the client's trace, or to a new one. */
import { inSomeTrace, TRACE_HEADER } from '../../platform/lib/trace';
import type { GatewayMiddleware } from './context';

export const followTrace: GatewayMiddleware = (ctx, next) =>
  inSomeTrace(ctx.get(TRACE_HEADER), next);
