/** What an operator sees of merchants' schedules of payouts, and pauses or resumes with the admin command. */
import { databaseTime } from '../../db/database-time';
import {
  changePayoutSchedule,
  findPayoutSchedule,
  listAllSchedules,
  lockPayoutSchedule,
} from '../../db/payout-schedules/payout-schedules';
import { listScheduleRuns } from '../../db/payout-schedules/payout-schedule-runs';
import { MissingRow, type Db } from '../../db/transaction';
import { firstRun, type PayoutSchedule } from '../../domain/payout-schedule';
import { presentPayoutSchedule, presentScheduleRun } from './payout-schedules-contract';
import { type ChangedBy, makeChange } from '../../kit/service/audit';
import { AdminRefusal } from '../../kit/service/refusal';

const RUNS_SHOWN = 20;

export async function listSchedules(db: Db, open: boolean, limit: number) {
  return (await listAllSchedules(db, open, limit)).map((schedule) => {
    const { id, status, mode, accountId, reference, nextRunAt, lastRun } = schedule;
    return {
      id,
      object: 'payout_schedule',
      status,
      mode,
      account_id: accountId,
      reference,
      next_run_at: nextRunAt?.toISOString() ?? null,
      last_run: lastRun?.status ?? null,
    };
  });
}

/** A schedule with its newest runs. @throws AdminRefusal when it does not exist */
export async function showSchedule(db: Db, id: string) {
  const schedule = await findPayoutSchedule(db, id);
  if (schedule === null) throw notFound(id);
  const runs = await listScheduleRuns(db, id, { limit: RUNS_SHOWN, after: null });
  return {
    ...presentPayoutSchedule(schedule),
    account_id: schedule.accountId,
    created_by: schedule.apiKeyId,
    runs: runs.items.map(presentScheduleRun),
  };
}

/** @throws AdminRefusal */
export async function changeSchedule(
  db: Db,
  by: ChangedBy,
  id: string,
  trigger: 'pause' | 'resume',
) {
  await makeChange<PayoutSchedule>(db, by, async (tx) => {
    const before = await lockPayoutSchedule(tx, id).catch((error: unknown) => {
      throw error instanceof MissingRow ? notFound(id) : error;
    });
    const { status } = before;
    const next = trigger === 'resume' ? firstRun(before, await databaseTime(tx)) : null;
    if (!(await changePayoutSchedule(tx, id, trigger, next))) {
      throw new AdminRefusal({ code: 'schedule_not_changed', id, status });
    }
    const after = await lockPayoutSchedule(tx, id);
    const audit = {
      action: `payout_schedule.${trigger}`,
      object: 'payout_schedule',
      objectId: id,
      accountId: after.accountId,
      before: { status },
      after: { status: after.status },
    };
    return { audit, result: after };
  });
  return showSchedule(db, id);
}

function notFound(id: string): AdminRefusal {
  return new AdminRefusal({ code: 'not_found', object: 'payout_schedule', id });
}
