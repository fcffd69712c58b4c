/** What an operator sees of merchants' schedules of payouts, and pauses or resumes with the admin command. */
import {
  changePayoutSchedule,
  findPayoutSchedule,
  listAllSchedules,
  listScheduleRuns,
  lockPayoutSchedule,
} from '../../db/repositories/payout-schedules';
import { MissingRow, type Db } from '../../db/transaction';
import type { PayoutSchedule } from '../../domain/payout-schedule';
import { presentPayoutSchedule, presentScheduleRun } from '../../presenters/payout-schedule';
import { type FollowingDeps, tellTemporal } from '../payout-schedules';
import { type ChangedBy, makeChange } from './audit';
import { AdminRefusal } from './refusal';

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

/** With its newest runs. @throws AdminRefusal */
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
  deps: FollowingDeps,
  by: ChangedBy,
  id: string,
  trigger: 'pause' | 'resume',
) {
  const { db } = deps;
  const changed = await makeChange<PayoutSchedule>(db, by, async (tx) => {
    const before = await lockPayoutSchedule(tx, id).catch((error: unknown) => {
      throw error instanceof MissingRow ? notFound(id) : error;
    });
    const { status } = before;
    if (!(await changePayoutSchedule(tx, id, trigger))) {
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
  await tellTemporal(deps, changed);
  return showSchedule(db, id);
}

function notFound(id: string): AdminRefusal {
  return new AdminRefusal({ code: 'not_found', object: 'payout_schedule', id });
}
