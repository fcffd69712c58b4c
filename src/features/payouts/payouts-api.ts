/** /payouts (the specification, "Endpoints"). */
import { bind, type Route, withBody } from '../../kit/api/routes';
import { PAYOUT_DOSSIER_OPERATIONS } from './payout-dossiers-contract';
import {
  PAYOUT_OPERATIONS,
  presentPayout,
  presentRetrievedPayout,
  readPayoutQuery,
  readPayoutRequest,
} from './payouts-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Payouts } from '../../kit/service/services';
import { pathId } from '../../kit/api/context';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function payoutRoutes(payouts: Payouts, pagination: Pagination): Route[] {
  return bind([...PAYOUT_OPERATIONS, ...PAYOUT_DOSSIER_OPERATIONS], {
    createPayout: withBody(validate(readPayoutRequest), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      writeStored(ctx, await payouts.create(caller, { idempotencyKey, request }));
    }),

    listPayouts: listPage(
      pagination,
      readPayoutQuery,
      (caller, query) => payouts.list(caller, query),
      presentPayout,
    ),

    getPayout: async (ctx) => {
      const { caller } = ctx.state;
      const payout = await payouts.get(caller, pathId('payout', ctx));
      const beneficiary = payouts.beneficiaryOf(caller, payout);
      ctx.body = presentOne(presentRetrievedPayout(payout, beneficiary));
    },

    getPayoutDossier: async (ctx) => {
      ctx.body = presentOne(await payouts.dossier(ctx.state.caller, pathId('payout', ctx)));
    },

    cancelPayout: async (ctx) => {
      const payout = await payouts.cancel(ctx.state.caller, pathId('payout', ctx));
      ctx.body = presentOne(presentPayout(payout));
    },

    releasePayout: async (ctx) => {
      const payout = await payouts.release(ctx.state.caller, pathId('payout', ctx));
      ctx.body = presentOne(presentPayout(payout));
    },
  });
}
