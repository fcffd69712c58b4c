/**
 * Called by restart-missing: Temporal follows the rows again where it does not, schedules whose end has
 * passed are ended, and runs without a workflow get one.
 */
import { appendEvent } from '../../src/db/repositories/events';
import {
  changePayoutSchedule,
  listPendingRuns,
  lockPayoutSchedule,
  noteFollowed,
  takeUncheckedSchedules,
} from '../../src/db/repositories/payout-schedules';
import { databaseTime } from '../../src/db/database-time';
import type { PayoutSchedule } from '../../src/domain/payout-schedule';
import { inEventTransaction } from '../deps';
import { eventOfPayoutSchedule } from '../events';
import type { ScheduleDeps } from './run';

const AT_ONCE = 50;
/** A run at the end's own time may start this much later. */
const END_GRACE_MS = 60_000;

export async function followPayoutSchedules(deps: ScheduleDeps): Promise<{ ensured: number }> {
  const pending = await listPendingRuns(deps.db, AT_ONCE);
  for (const run of pending) await deps.payoutScheduleTimers.ensureRunning(run);
  const schedules = await takeUncheckedSchedules(deps.db, AT_ONCE);
  const now = await databaseTime(deps.db);
  // One that Temporal refuses does not keep the others waiting.
  const followed = await Promise.allSettled(schedules.map((one) => follow(deps, one, now)));
  const failure = followed.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return { ensured: schedules.length + pending.length };
}

async function follow(deps: ScheduleDeps, schedule: PayoutSchedule, now: Date): Promise<void> {
  const { nextRunAt, isIdle } = await deps.payoutScheduleTimers.follow(schedule);
  await noteFollowed(deps.db, schedule, nextRunAt);
  const { endAt, status } = schedule;
  const isOver = endAt !== null && now.getTime() - endAt.getTime() > END_GRACE_MS;
  if (isOver && isIdle && status !== 'ended') await end(deps, schedule.id);
}

async function end(deps: ScheduleDeps, id: string): Promise<void> {
  await inEventTransaction(deps, id, async (tx, deliveries) => {
    if (!(await changePayoutSchedule(tx, id, 'end'))) return;
    const ended = await lockPayoutSchedule(tx, id);
    appendEvent(tx, eventOfPayoutSchedule('payout_schedule.ended', ended), deliveries);
  });
}
