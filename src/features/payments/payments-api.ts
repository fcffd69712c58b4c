/** /payments (the specification, "Endpoints"). */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentPayment } from './payments-contract';
import { readPaymentQuery, readPaymentRequest } from './payments-contract';
import type { Payments } from '../../kit/service/services';
import { type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

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
