/** /payments (the specification, "Endpoints"). */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  PAYMENT_OPERATIONS,
  presentPayment,
  readPaymentQuery,
  readPaymentRequest,
} from './payments-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Payments } from '../../kit/service/services';
import { pathId } from '../../kit/api/context';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function paymentRoutes(payments: Payments, pagination: Pagination): Route[] {
  return bind(PAYMENT_OPERATIONS, {
    createPayment: withBody(validate(readPaymentRequest), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      writeStored(ctx, await payments.create(caller, { idempotencyKey, request }));
    }),

    listPayments: listPage(
      pagination,
      readPaymentQuery,
      (caller, query) => payments.list(caller, query),
      presentPayment,
    ),

    getPayment: async (ctx) => {
      const payment = await payments.get(ctx.state.caller, pathId('payment', ctx));
      ctx.body = presentOne(presentPayment(payment));
    },

    verifyPayment: async (ctx) => {
      const payment = await payments.verify(ctx.state.caller, pathId('payment', ctx));
      ctx.body = presentOne(presentPayment(payment));
    },

    cancelPayment: async (ctx) => {
      const payment = await payments.cancel(ctx.state.caller, pathId('payment', ctx));
      ctx.body = presentOne(presentPayment(payment));
    },
  });
}
