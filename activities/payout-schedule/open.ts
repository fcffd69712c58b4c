/**
 * Opens the runs of schedules whose time has come. One transaction opens a run at the `next_run_at` of the row
 * and sets the next one, so each time has one run, however many workers look. Missed times come one after the
 * other, also after an outage.
 */
import { databaseTime } from '../../src/db/database-time';
import { appendEvent } from '../../src/db/webhooks/events';
import {
  changePayoutSchedule,
  listDueSchedules,
  lockPayoutSchedule,
  readNextDue,
  setNextRun,
} from '../../src/db/payout-schedules/payout-schedules';
import {
  listPendingRuns,
  openScheduleRun,
} from '../../src/db/payout-schedules/payout-schedule-runs';
import { MODES } from '../../src/domain/mode';
import {
  firstRun,
  PENDING_RUNS_MAX,
  type PayoutScheduleRun,
  RUN_LATE_MS_MAX,
} from '../../src/domain/payout-schedule';
import { newId } from '../../src/platform/lib/new-id';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayoutSchedule } from '../events';
import { noteRun, type ScheduleDeps, tooLate } from './run';

/** The most schedules of each mode in one look. */
const AT_ONCE = 20;
/** A schedule whose run is under way, or whose account has its share, is looked at again after this time. */
const LOOK_AGAIN_MS = 2_000;

/** @returns the time until the next look; null if no schedule has a time */
export async function openScheduleRuns(
  deps: ScheduleDeps,
): Promise<{ opened: number; nextInMs: number | null }> {
  let opened = 0;
  let isFull = false;
  for (const mode of MODES) {
    const ofAccount = PENDING_RUNS_MAX[mode];
    const due = await listDueSchedules(deps.db, { mode, limit: AT_ONCE, ofAccount });
    // One that cannot be opened does not keep the others waiting.
    const done = await Promise.allSettled(due.map((id) => openRun(deps, id)));
    const isOpened = ({ status }: PromiseSettledResult<void>) => status === 'fulfilled';
    opened += done.filter(isOpened).length;
    isFull ||= due.length === AT_ONCE && done.every(isOpened);
  }
  if (isFull) return { opened, nextInMs: 0 };
  const { isOverdue, laterInMs } = await readNextDue(deps.db);
  if (!isOverdue) return { opened, nextInMs: laterInMs };
  return { opened, nextInMs: Math.min(LOOK_AGAIN_MS, laterInMs ?? LOOK_AGAIN_MS) };
}

/** Called by restart-missing for runs that were opened a while ago. */
export async function restartScheduleRuns(deps: ScheduleDeps): Promise<{ ensured: number }> {
  const pending = await listPendingRuns(deps.db, AT_ONCE);
  for (const run of pending) await deps.scheduleRunWorkflows.ensureRunning(run);
  return { ensured: pending.length };
}

async function openRun(deps: ScheduleDeps, id: string): Promise<void> {
  const run = await take(deps, id);
  if (run !== null) await deps.scheduleRunWorkflows.ensureRunning(run);
}

/** @returns the run to start; null if there is none, or it was too late */
async function take(deps: Deps, id: string): Promise<PayoutScheduleRun | null> {
  return inEventTransaction(deps, id, async (tx) => {
    const schedule = await lockPayoutSchedule(tx, id);
    const now = await databaseTime(tx);
    const { status, nextRunAt, endAt } = schedule;
    if (status === 'active' && nextRunAt !== null) {
      if (nextRunAt > now) return null;
      const isLate = now.getTime() - nextRunAt.getTime() > RUN_LATE_MS_MAX;
      // The times that are too late have one failed run, which is the first of them.
      const after = isLate ? new Date(now.getTime() - RUN_LATE_MS_MAX) : nextRunAt;
      const next = firstRun(schedule, after);
      const ids = { id: newId('payoutScheduleRun'), batchId: newId('payoutBatch') };
      const run = await openScheduleRun(tx, { ...ids, scheduleId: id, scheduledFor: nextRunAt });
      await setNextRun(tx, id, next);
      if (!isLate) return run;
      await noteRun(tx, run, tooLate());
      return null;
    }
    if (status === 'ended') return null;
    const next = status === 'active' ? firstRun(schedule, now) : null;
    const isOver = endAt === null ? status === 'active' && next === null : endAt <= now;
    if (!isOver) {
      await setNextRun(tx, id, next);
      return null;
    }
    await changePayoutSchedule(tx, id, 'end');
    const ended = await lockPayoutSchedule(tx, id);
    appendEvent(tx, eventOfPayoutSchedule('payout_schedule.ended', ended));
    return null;
  });
}
