/** Starts the workflows of runs of merchants' schedules, whose rows are opened first. */
import type { Client } from '@temporalio/client';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import { type PayoutScheduleRun, runWorkflowId } from '../domain/payout-schedule';
import { createStarter } from './client';

export type ScheduleRunWorkflows = ReturnType<typeof createScheduleRunWorkflows>;

export function createScheduleRunWorkflows(client: Client) {
  const starter = createStarter(client, WORKFLOWS.payoutScheduleRun);
  return {
    /** Starts the workflow of a run unless it runs. */
    ensureRunning: ({ scheduleId, scheduledFor }: Omit<PayoutScheduleRun, 'failure'>) =>
      starter.ensureRunning({
        workflowId: runWorkflowId(scheduleId, scheduledFor),
        taskQueue: TASK_QUEUES.batches,
        args: [{ scheduleId }],
      }),
  };
}
