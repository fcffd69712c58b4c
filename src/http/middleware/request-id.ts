/** Gives every answer an X-Request-Id of ours (decision W4). First in the list. */
import { newId } from '../../lib/new-id';
import type { GatewayMiddleware } from '../context';

export const setRequestId: GatewayMiddleware = async (ctx, next) => {
  ctx.state.requestId = newId('request');
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};
