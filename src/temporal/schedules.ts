/**
 * The reconciler's schedule, made or brought up to date by the worker at its start. An operator's
 * pause of it stays.
 */
import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';

const RECONCILE_EVERY = '15 seconds';

const SCHEDULE_ID = 'reconcile';

const RECONCILE = {
  spec: { intervals: [{ every: RECONCILE_EVERY }] },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
  action: {
    type: 'startWorkflow',
    workflowType: WORKFLOWS.reconcile,
    taskQueue: TASK_QUEUES.payouts,
    args: [],
  },
} as const satisfies Omit<ScheduleOptions, 'scheduleId'>;

export async function ensureSchedules(client: Client): Promise<void> {
  try {
    await client.schedule.create({ scheduleId: SCHEDULE_ID, ...RECONCILE });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(SCHEDULE_ID);
    await handle.update(({ state }) => ({ ...RECONCILE, state }));
  }
}
