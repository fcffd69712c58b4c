/** /payments/{id}/refunds and /refunds. */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  presentRefund,
  readPaymentRefundQuery,
  readRefundQuery,
  readRefundRequest,
  REFUND_OPERATIONS,
} from './refunds-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Refunds } from './refunds';
import { pathId } from '../../kit/api/context';
import { requireScope } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function refundRoutes(refunds: Refunds, pagination: Pagination): Route[] {
  return bind(REFUND_OPERATIONS, {
    createRefund: withBody(validate(readRefundRequest), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      // Money for an address of the caller's choice is a payout in all but name.
      if (request.destination !== null) requireScope(caller, 'payouts:write');
      const paymentId = pathId('payment', ctx);
      writeStored(ctx, await refunds.create(caller, { idempotencyKey, paymentId, ...request }));
    }),

    listPaymentRefunds: async (ctx, next) => {
      const list = listPage(
        pagination,
        readPaymentRefundQuery,
        (caller, query) => refunds.listOf(caller, pathId('payment', ctx), query),
        presentRefund,
      );
      await list(ctx, next);
    },

    listRefunds: listPage(
      pagination,
      readRefundQuery,
      (caller, query) => refunds.list(caller, query),
      presentRefund,
    ),

    cancelRefund: async (ctx) => {
      const refund = await refunds.withdraw(ctx.state.caller, pathId('refund', ctx));
      ctx.body = presentOne(presentRefund(refund));
    },

    getRefund: async (ctx) => {
      const refund = await refunds.get(ctx.state.caller, pathId('refund', ctx));
      ctx.body = presentOne(presentRefund(refund));
    },
  });
}
