/**
 * One run of a schedule of payouts, which a worker has opened at its time: checks the rows, and
 * starts the batch if every one is good. A run that fails is a row and an event; the workflow completes.
 */
import { workflowInfo } from '@temporalio/workflow';
import { activities } from './activities';

/** A fault of the database or of a provider is tried again; the activity gives up after an hour. */
const { runPayoutSchedule } = activities<'runPayoutSchedule'>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '500 ms', maximumInterval: '1 minute' },
  summary: 'Check the rows and start the batch',
});

/** @returns the batch, or why there is none */
export async function payoutScheduleRunWorkflow({
  scheduleId,
}: {
  scheduleId: string;
}): Promise<string> {
  // The id of the workflow ends with the time of the run, however late it starts.
  const scheduledFor = workflowInfo().workflowId.slice(scheduleId.length + 1);
  return runPayoutSchedule(scheduleId, scheduledFor);
}
