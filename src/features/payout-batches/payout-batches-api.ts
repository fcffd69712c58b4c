/** /payout_batches. */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  PAYOUT_BATCH_OPERATIONS,
  presentBatchCheck,
  presentBatchProof,
  presentPayoutBatch,
  readLeaveOutRequest,
  readPayoutBatchQuery,
} from './payout-batches-contract';
import { presentOne } from '../../kit/service/envelope';
import type { PayoutBatches } from './payout-batches';
import { pathId } from '../../kit/api/context';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import type { ValidateLarge } from '../../kit/api/large-bodies/large-body';
import { listPage, type Pagination } from '../../kit/api/pagination';

/** The longest body, which is enough for ten thousand payouts with descriptions and metadata. */
const MEBIBYTES_MAX = 8;

export function payoutBatchRoutes(
  batches: PayoutBatches,
  pagination: Pagination,
  validateLarge: ValidateLarge,
): Route[] {
  return bind(PAYOUT_BATCH_OPERATIONS, {
    createPayoutBatch: withBody(validateLarge('payoutBatch', MEBIBYTES_MAX), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const { isDryRun, ...input } = request;
      if (isDryRun) ctx.body = presentOne(presentBatchCheck(await batches.check(caller, input)));
      else writeStored(ctx, await batches.create(caller, { ...input, idempotencyKey }));
    }),

    listPayoutBatches: listPage(
      pagination,
      readPayoutBatchQuery,
      (caller, query) => batches.list(caller, query),
      ({ batch, progress }) => presentPayoutBatch(batch, progress),
    ),

    getPayoutBatch: async (ctx) => {
      const { batch, progress } = await batches.get(ctx.state.caller, pathId('payoutBatch', ctx));
      ctx.body = presentOne(presentPayoutBatch(batch, progress));
    },

    getPayoutBatchProof: async (ctx) => {
      const proof = await batches.proof(ctx.state.caller, pathId('payoutBatch', ctx));
      ctx.body = presentOne(presentBatchProof(proof));
    },

    stopPayoutBatch: async (ctx) => {
      const { batch, progress } = await batches.stop(ctx.state.caller, pathId('payoutBatch', ctx));
      ctx.body = presentOne(presentPayoutBatch(batch, progress));
    },

    leaveOutPayoutBatchRows: withBody(validate(readLeaveOutRequest), async (ctx) => {
      const { caller, request } = ctx.state;
      const id = pathId('payoutBatch', ctx);
      const { batch, progress } = await batches.leaveOut(caller, id, request.rows);
      ctx.body = presentOne(presentPayoutBatch(batch, progress));
    }),
  });
}
