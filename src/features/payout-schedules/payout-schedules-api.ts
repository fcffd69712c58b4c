/** /payout_schedules. */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  PAYOUT_SCHEDULE_OPERATIONS,
  presentPayoutSchedule,
  presentScheduleCheck,
  presentScheduleRun,
  readPayoutScheduleQuery,
} from './payout-schedules-contract';
import { presentOne } from '../../kit/service/envelope';
import type { PayoutSchedules } from './payout-schedules';
import { type GatewayMiddleware, pathId } from '../../kit/api/context';
import { writeStored } from '../../kit/api/idempotency-key';
import type { ValidateLarge } from '../../kit/api/large-bodies/large-body';
import { listPage, type Pagination } from '../../kit/api/pagination';

/** The longest body, which is enough for 500 rows with descriptions and metadata. */
const MEBIBYTES_MAX = 1;

export function payoutScheduleRoutes(
  schedules: PayoutSchedules,
  pagination: Pagination,
  validateLarge: ValidateLarge,
): Route[] {
  const change =
    (trigger: 'pause' | 'resume' | 'end'): GatewayMiddleware =>
    async (ctx) => {
      const id = pathId('payoutSchedule', ctx);
      const schedule = await schedules.change(ctx.state.caller, id, trigger);
      ctx.body = presentOne(presentPayoutSchedule(schedule));
    };
  return bind(PAYOUT_SCHEDULE_OPERATIONS, {
    createPayoutSchedule: withBody(validateLarge('payoutSchedule', MEBIBYTES_MAX), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const { isDryRun, ...input } = request;
      if (isDryRun)
        ctx.body = presentOne(presentScheduleCheck(await schedules.check(caller, input)));
      else writeStored(ctx, await schedules.create(caller, { ...input, idempotencyKey }));
    }),

    listPayoutSchedules: listPage(
      pagination,
      readPayoutScheduleQuery,
      (caller, query) => schedules.list(caller, query),
      presentPayoutSchedule,
    ),

    getPayoutSchedule: async (ctx) => {
      const schedule = await schedules.get(ctx.state.caller, pathId('payoutSchedule', ctx));
      ctx.body = presentOne(presentPayoutSchedule(schedule));
    },

    listPayoutScheduleRuns: async (ctx, next) => {
      const list = listPage(
        pagination,
        readPayoutScheduleQuery,
        (caller, query) => schedules.listRuns(caller, pathId('payoutSchedule', ctx), query),
        presentScheduleRun,
      );
      await list(ctx, next);
    },

    pausePayoutSchedule: change('pause'),

    resumePayoutSchedule: change('resume'),

    endPayoutSchedule: change('end'),
  });
}
