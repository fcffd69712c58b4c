/** /payout_batches. */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import {
  presentBatchCheck,
  presentBatchProof,
  presentPayoutBatch,
} from './payout-batches-contract';
import { readLeaveOutRequest, readPayoutBatchQuery } from './payout-batches-contract';
import type { PayoutBatches } from './payout-batches';
import { type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import type { ValidateLarge } from '../../kit/api/large-bodies/large-body';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

/** The longest body, which is enough for ten thousand payouts with descriptions and metadata. */
const MEBIBYTES_MAX = 8;

export function payoutBatchRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  batches: PayoutBatches,
  pagination: Pagination,
  validateLarge: ValidateLarge,
): void {
  router.post(
    '/payout_batches',
    auth('payouts:write'),
    validateLarge('payoutBatch', MEBIBYTES_MAX),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const { isDryRun, ...input } = request;
      if (isDryRun) ctx.body = presentOne(presentBatchCheck(await batches.check(caller, input)));
      else writeStored(ctx, await batches.create(caller, { ...input, idempotencyKey }));
    },
  );

  router.get(
    '/payout_batches',
    auth('payouts:read'),
    listPage(
      pagination,
      readPayoutBatchQuery,
      (caller, query) => batches.list(caller, query),
      ({ batch, progress }) => presentPayoutBatch(batch, progress),
    ),
  );

  router.get('/payout_batches/:id', auth('payouts:read'), noQuery, async (ctx) => {
    const { batch, progress } = await batches.get(ctx.state.caller, pathId('payoutBatch', ctx));
    ctx.body = presentOne(presentPayoutBatch(batch, progress));
  });

  router.get('/payout_batches/:id/proof', auth('payouts:read'), noQuery, async (ctx) => {
    const proof = await batches.proof(ctx.state.caller, pathId('payoutBatch', ctx));
    ctx.body = presentOne(presentBatchProof(proof));
  });

  router.post('/payout_batches/:id/stop', auth('payouts:write'), noQuery, async (ctx) => {
    const { batch, progress } = await batches.stop(ctx.state.caller, pathId('payoutBatch', ctx));
    ctx.body = presentOne(presentPayoutBatch(batch, progress));
  });

  router.post(
    '/payout_batches/:id/leave_out',
    auth('payouts:write'),
    validate(readLeaveOutRequest),
    noQuery,
    async (ctx) => {
      const { caller, request } = ctx.state;
      const id = pathId('payoutBatch', ctx);
      const { batch, progress } = await batches.leaveOut(caller, id, request.rows);
      ctx.body = presentOne(presentPayoutBatch(batch, progress));
    },
  );
}
