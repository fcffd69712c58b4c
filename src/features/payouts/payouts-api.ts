/** /payouts (the specification, "Endpoints"). */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentPayout, presentRetrievedPayout } from './payouts-contract';
import { readPayoutQuery, readPayoutRequest } from './payouts-contract';
import type { Payouts } from '../../kit/service/services';
import { type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function payoutRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  payouts: Payouts,
  pagination: Pagination,
): void {
  router.post(
    '/payouts',
    auth('payouts:write'),
    validate(readPayoutRequest),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      writeStored(ctx, await payouts.create(caller, { idempotencyKey, request }));
    },
  );

  router.get(
    '/payouts',
    auth('payouts:read'),
    listPage(
      pagination,
      readPayoutQuery,
      (caller, query) => payouts.list(caller, query),
      presentPayout,
    ),
  );

  router.get('/payouts/:id', auth('payouts:read'), noQuery, async (ctx) => {
    const { caller } = ctx.state;
    const payout = await payouts.get(caller, pathId('payout', ctx));
    const beneficiary = payouts.beneficiaryOf(caller, payout);
    ctx.body = presentOne(presentRetrievedPayout(payout, beneficiary));
  });

  router.get('/payouts/:id/dossier', auth('payouts:read'), noQuery, async (ctx) => {
    ctx.body = presentOne(await payouts.dossier(ctx.state.caller, pathId('payout', ctx)));
  });

  router.post('/payouts/:id/cancel', auth('payouts:write'), noQuery, async (ctx) => {
    const payout = await payouts.cancel(ctx.state.caller, pathId('payout', ctx));
    ctx.body = presentOne(presentPayout(payout));
  });

  router.post('/payouts/:id/release', auth('payouts:write'), noQuery, async (ctx) => {
    const payout = await payouts.release(ctx.state.caller, pathId('payout', ctx));
    ctx.body = presentOne(presentPayout(payout));
  });
}
