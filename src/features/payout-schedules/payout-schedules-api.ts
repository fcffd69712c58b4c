/** /payout_schedules. */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import {
  presentPayoutSchedule,
  presentScheduleCheck,
  presentScheduleRun,
} from './payout-schedules-contract';
import { readPayoutScheduleQuery } from './payout-schedules-contract';
import type { PayoutSchedules } from './payout-schedules';
import { type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import type { ValidateLarge } from '../../kit/api/large-bodies/large-body';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

/** The longest body, which is enough for 500 rows with descriptions and metadata. */
const MEBIBYTES_MAX = 1;

export function payoutScheduleRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  schedules: PayoutSchedules,
  pagination: Pagination,
  validateLarge: ValidateLarge,
): void {
  router.post(
    '/payout_schedules',
    auth('payouts:write'),
    validateLarge('payoutSchedule', MEBIBYTES_MAX),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const { isDryRun, ...input } = request;
      if (isDryRun)
        ctx.body = presentOne(presentScheduleCheck(await schedules.check(caller, input)));
      else writeStored(ctx, await schedules.create(caller, { ...input, idempotencyKey }));
    },
  );

  router.get(
    '/payout_schedules',
    auth('payouts:read'),
    listPage(
      pagination,
      readPayoutScheduleQuery,
      (caller, query) => schedules.list(caller, query),
      presentPayoutSchedule,
    ),
  );

  router.get('/payout_schedules/:id', auth('payouts:read'), noQuery, async (ctx) => {
    const schedule = await schedules.get(ctx.state.caller, pathId('payoutSchedule', ctx));
    ctx.body = presentOne(presentPayoutSchedule(schedule));
  });

  router.get('/payout_schedules/:id/runs', auth('payouts:read'), async (ctx, next) => {
    const list = listPage(
      pagination,
      readPayoutScheduleQuery,
      (caller, query) => schedules.listRuns(caller, pathId('payoutSchedule', ctx), query),
      presentScheduleRun,
    );
    await list(ctx, next);
  });

  for (const trigger of ['pause', 'resume', 'end'] as const) {
    router.post(`/payout_schedules/:id/${trigger}`, auth('payouts:write'), noQuery, async (ctx) => {
      const id = pathId('payoutSchedule', ctx);
      const schedule = await schedules.change(ctx.state.caller, id, trigger);
      ctx.body = presentOne(presentPayoutSchedule(schedule));
    });
  }
}
