/** /payments (the specification, "Endpoints"). */
import type Router from '@koa/router';
import { presentOne } from '../../presenters/envelope';
import { presentPayment } from '../../presenters/payment';
import { readPaymentQuery, readPaymentRequest } from '../../schemas/payments';
import type { Payments } from '../../services/services';
import { type GatewayState, pathId } from '../context';
import type { Auth } from '../middleware/auth';
import { validate } from '../middleware/body';
import { idempotent, writeStored } from '../middleware/idempotency-key';
import { noQuery } from '../middleware/query';
import { listPage, type Pagination } from '../pagination';

export function paymentRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  payments: Payments,
  pagination: Pagination,
): void {
  router.post(
    '/payments',
    auth('payments:write'),
    validate(readPaymentRequest),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      writeStored(ctx, await payments.create(caller, { idempotencyKey, request }));
    },
  );

  router.get(
    '/payments',
    auth('payments:read'),
    listPage(
      pagination,
      readPaymentQuery,
      (caller, query) => payments.list(caller, query),
      presentPayment,
    ),
  );

  router.get('/payments/:id', auth('payments:read'), noQuery, async (ctx) => {
    const payment = await payments.get(ctx.state.caller, pathId('payment', ctx));
    ctx.body = presentOne(presentPayment(payment));
  });

  router.post('/payments/:id/verify', auth('payments:write'), noQuery, async (ctx) => {
    const payment = await payments.verify(ctx.state.caller, pathId('payment', ctx));
    ctx.body = presentOne(presentPayment(payment));
  });

  router.post('/payments/:id/cancel', auth('payments:write'), noQuery, async (ctx) => {
    const payment = await payments.cancel(ctx.state.caller, pathId('payment', ctx));
    ctx.body = presentOne(presentPayment(payment));
  });
}
