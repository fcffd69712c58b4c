/** Requests that have no query parameters refuse them (decisions/api#validation). */
import { refuseParameters } from './query';
import type { GatewayMiddleware } from './context';

export const noQuery: GatewayMiddleware = async (ctx, next) => {
  refuseParameters(ctx.query);
  await next();
};
