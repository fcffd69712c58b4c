/** Schedules of payouts and their runs on the wire. */
import type { BatchTerms } from '../domain/batch-terms';
import { errorEntry, type Refusal } from '../domain/errors';
import type { PayoutSchedule, PayoutScheduleRun } from '../domain/payout-schedule';
import type {
  PayoutScheduleCheckObject,
  PayoutScheduleObject,
  PayoutScheduleRunObject,
} from '../schemas/payout-schedules';
import { presentBatchCheck } from './payout-batch';

export function presentPayoutSchedule(schedule: PayoutSchedule): PayoutScheduleObject {
  return {
    id: schedule.id,
    object: 'payout_schedule',
    mode: schedule.mode,
    status: schedule.status,
    reference: schedule.reference,
    description: schedule.description,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    interval_seconds: schedule.intervalSeconds,
    start_at: schedule.startAt.toISOString(),
    end_at: schedule.endAt?.toISOString() ?? null,
    rows: schedule.payouts.length,
    totals: schedule.totals,
    awaits_second_person: schedule.awaitsSecondPerson,
    next_run_at: schedule.nextRunAt?.toISOString() ?? null,
    last_run: schedule.lastRun === null ? null : presentScheduleRun(schedule.lastRun),
    created_at: schedule.createdAt.toISOString(),
    updated_at: schedule.updatedAt.toISOString(),
    ended_at: schedule.endedAt?.toISOString() ?? null,
  };
}

export function presentScheduleRun(run: PayoutScheduleRun): PayoutScheduleRunObject {
  return {
    id: run.id,
    object: 'payout_schedule_run',
    schedule_id: run.scheduleId,
    scheduled_for: run.scheduledFor.toISOString(),
    status: run.status,
    batch_id: run.status === 'created' ? run.batchId : null,
    failure: run.failure === null ? null : presentFailure(run.failure),
    created_at: run.createdAt.toISOString(),
    ended_at: run.endedAt?.toISOString() ?? null,
  };
}

/** The result of a dry run. A balance is looked at by each run, so it does not make the request invalid. */
export function presentScheduleCheck(
  check: Pick<
    BatchTerms,
    'faults' | 'totals' | 'shortage' | 'reviewReasons' | 'needsSecondPerson'
  > & {
    nextTimes: Date[];
  },
): PayoutScheduleCheckObject {
  return {
    ...presentBatchCheck(check),
    object: 'payout_schedule_check',
    valid: check.faults.length === 0,
    needs_second_person: check.needsSecondPerson,
    next_run_times: check.nextTimes.map((time) => time.toISOString()),
  };
}

function presentFailure({ code, message, details }: Refusal) {
  return { code, message: message ?? errorEntry(code).message, details: details ?? null };
}
