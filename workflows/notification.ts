/**
 * Notifications (decisions/notifications#notifications): a schedule makes the messages about new occasions, and each message
 * is sent by a workflow of its own, which tries again for a day while the mail server does not take it.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ActivityFailure, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { isId } from '../src/domain/ids';
import { activities } from './activities';
import { TASK_QUEUES } from './names';

const { addressNotifications } = activities<'addressNotifications'>({
  startToCloseTimeout: '60 seconds',
  // The schedule runs again soon.
  retry: { maximumAttempts: 3 },
});

/** The timeout is longer than those of the mail server together. */
const { sendNotification } = activities<'sendNotification'>({
  startToCloseTimeout: '90 seconds',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '15 minutes' },
});

/** The workers of webhooks alone reach addresses that merchants chose. */
const { sendChatMessage } = activities<'sendChatMessage'>({
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '1 day',
  // As many attempts as the row counts.
  retry: {
    initialInterval: '5 seconds',
    backoffCoefficient: 4,
    maximumInterval: '1 hour',
    maximumAttempts: 9,
  },
});

/** @returns how many messages are to be sent */
export async function notificationsWorkflow(): Promise<number> {
  const ids = await addressNotifications();
  for (const id of ids) {
    try {
      await startChild(notificationWorkflow, {
        workflowId: id,
        args: [id],
        parentClosePolicy: ParentClosePolicy.ABANDON,
      });
    } catch (error) {
      // Its workflow waits for the next attempt.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
  return ids.length;
}

/** @returns the final status of the message */
export async function notificationWorkflow(id: string): Promise<string> {
  try {
    return await (isId('chatMessage', id) ? sendChatMessage(id) : sendNotification(id));
  } catch (error) {
    // The row stays as it is, and the next run of the schedule gives the message up.
    if (error instanceof ActivityFailure) return 'waiting';
    throw error;
  }
}
