/** /payments (the specification, "Endpoints"). */
import type Router from '@koa/router';
import { ApiError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { presentPayment } from '../../presenters/payment';
import { readPaymentRequest } from '../../schemas/payment';
import { readPaymentQuery } from '../../schemas/payment-query';
import type { Payments } from '../../services/services';
import type { GatewayMiddleware, GatewayState } from '../context';
import { readIdempotencyKey } from '../idempotency-key';
import { jsonBody } from '../middleware/json-body';
import { requireScope } from '../middleware/scope';
import type { Pagination } from '../pagination';
import { writeStored } from '../stored-response';

const LIST_PATH = '/api/v1/payments';

export function paymentRoutes(
  router: Router<GatewayState>,
  auth: GatewayMiddleware,
  payments: Payments,
  pagination: Pagination,
): void {
  router.post('/payments', auth, requireScope('payments:write'), jsonBody, async (ctx) => {
    const { caller, json } = ctx.state;
    const request = readPaymentRequest(json, caller.mode);
    const idempotencyKey = readIdempotencyKey(ctx);
    writeStored(ctx, await payments.create(caller, { idempotencyKey, request }));
  });

  router.get('/payments', auth, requireScope('payments:read'), async (ctx) => {
    const { caller } = ctx.state;
    const { limit, filters, filterTexts, cursor } = readPaymentQuery(ctx.query);
    const list = { caller, path: LIST_PATH, filters: filterTexts, limit };
    const after = pagination.readCursor(list, cursor);
    const page = await payments.list(caller, { limit, after, filters });
    ctx.body = pagination.present(list, page.items.map(presentPayment), page.next);
  });

  router.get('/payments/:id', auth, requireScope('payments:read'), async (ctx) => {
    const payment = await payments.get(ctx.state.caller, paymentId(ctx.params['id']));
    ctx.body = { data: presentPayment(payment) };
  });

  router.post('/payments/:id/verify', auth, requireScope('payments:write'), async (ctx) => {
    const payment = await payments.verify(ctx.state.caller, paymentId(ctx.params['id']));
    ctx.body = { data: presentPayment(payment) };
  });
}

/** A malformed id gets the answer of an unknown one (decision W6). */
function paymentId(text: string | undefined): string {
  if (text === undefined || !isId('payment', text)) {
    throw new ApiError('not_found', { resource: 'payment' });
  }
  return text;
}
