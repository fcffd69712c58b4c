/** Runs on a schedule, every few seconds: opens the runs of merchants' schedules at their times until the next start. */
import { sleep } from '@temporalio/workflow';
import { activities } from './activities';

const { openScheduleRuns } = activities<'openScheduleRuns'>({
  startToCloseTimeout: '15 seconds',
  // The schedule starts the workflow again soon, so a run must be short.
  retry: { maximumAttempts: 3 },
  summary: 'Open the runs that are due',
});

/** The interval of the schedule. */
const LASTS_MS = 10_000;
const WAIT_MS_MIN = 100;

/** @returns the number of runs that were opened */
export async function payoutSchedulesWorkflow(): Promise<number> {
  const endAt = Date.now() + LASTS_MS;
  let total = 0;
  for (;;) {
    const { opened, nextInMs } = await openScheduleRuns();
    total += opened;
    if (nextInMs === null || Date.now() + nextInMs >= endAt) return total;
    await sleep(Math.max(WAIT_MS_MIN, Math.ceil(nextInMs)));
  }
}
