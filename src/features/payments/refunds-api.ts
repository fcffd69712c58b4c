/** /payments/{id}/refunds and /refunds. */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentRefund } from './refunds-contract';
import { readPaymentRefundQuery, readRefundQuery, readRefundRequest } from './refunds-contract';
import type { Refunds } from './refunds';
import { type GatewayState, pathId } from '../../kit/api/context';
import { type Auth, requireScope } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function refundRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  refunds: Refunds,
  pagination: Pagination,
): void {
  router.post(
    '/payments/:id/refunds',
    auth('payments:write'),
    validate(readRefundRequest),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      // Money for an address of the caller's choice is a payout in all but name.
      if (request.destination !== null) requireScope(caller, 'payouts:write');
      const paymentId = pathId('payment', ctx);
      writeStored(ctx, await refunds.create(caller, { idempotencyKey, paymentId, ...request }));
    },
  );

  router.get('/payments/:id/refunds', auth('payments:read'), async (ctx, next) => {
    const list = listPage(
      pagination,
      readPaymentRefundQuery,
      (caller, query) => refunds.listOf(caller, pathId('payment', ctx), query),
      presentRefund,
    );
    await list(ctx, next);
  });

  router.get(
    '/refunds',
    auth('payments:read'),
    listPage(
      pagination,
      readRefundQuery,
      (caller, query) => refunds.list(caller, query),
      presentRefund,
    ),
  );

  router.post('/refunds/:id/cancel', auth('payments:write'), noQuery, async (ctx) => {
    const refund = await refunds.withdraw(ctx.state.caller, pathId('refund', ctx));
    ctx.body = presentOne(presentRefund(refund));
  });

  router.get('/refunds/:id', auth('payments:read'), noQuery, async (ctx) => {
    const refund = await refunds.get(ctx.state.caller, pathId('refund', ctx));
    ctx.body = presentOne(presentRefund(refund));
  });
}
