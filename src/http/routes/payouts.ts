/** /payouts (the specification, "Endpoints"). */
import type Router from '@koa/router';
import { ApiError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { presentPayout } from '../../presenters/payout';
import { readPayoutRequest } from '../../schemas/payout';
import { readPayoutQuery } from '../../schemas/payout-query';
import type { Payouts } from '../../services/services';
import type { GatewayMiddleware, GatewayState } from '../context';
import { readIdempotencyKey } from '../idempotency-key';
import { jsonBody } from '../middleware/json-body';
import { requireScope } from '../middleware/scope';
import type { Pagination } from '../pagination';
import { writeStored } from '../stored-response';

const LIST_PATH = '/api/v1/payouts';

export function payoutRoutes(
  router: Router<GatewayState>,
  auth: GatewayMiddleware,
  payouts: Payouts,
  pagination: Pagination,
): void {
  router.post('/payouts', auth, requireScope('payouts:write'), jsonBody, async (ctx) => {
    // The body comes before the key: decision W12.
    const request = readPayoutRequest(ctx.state.json);
    const idempotencyKey = readIdempotencyKey(ctx);
    writeStored(ctx, await payouts.create(ctx.state.caller, { idempotencyKey, request }));
  });

  router.get('/payouts', auth, requireScope('payouts:read'), async (ctx) => {
    const { caller } = ctx.state;
    const { limit, filters, filterTexts, cursor } = readPayoutQuery(ctx.query);
    const list = { caller, path: LIST_PATH, filters: filterTexts, limit };
    const after = pagination.readCursor(list, cursor);
    const page = await payouts.list(caller, { limit, after, filters });
    ctx.body = pagination.present(list, page.items.map(presentPayout), page.next);
  });

  router.get('/payouts/:id', auth, requireScope('payouts:read'), async (ctx) => {
    const payout = await payouts.get(ctx.state.caller, payoutId(ctx.params['id']));
    ctx.body = { data: presentPayout(payout) };
  });

  router.post('/payouts/:id/cancel', auth, requireScope('payouts:write'), async (ctx) => {
    const payout = await payouts.cancel(ctx.state.caller, payoutId(ctx.params['id']));
    ctx.body = { data: presentPayout(payout) };
  });
}

/** A malformed id gets the answer of an unknown one (decision W6). */
function payoutId(text: string | undefined): string {
  if (text === undefined || !isId('payout', text)) {
    throw new ApiError('not_found', { resource: 'payout' });
  }
  return text;
}
