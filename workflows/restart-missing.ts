/**
 * Runs on a schedule: starts a workflow for everything that needs one and has none, and wakes what
 * nobody else has woken.
 */
import { ActivityFailure, patched, TimeoutFailure } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { activities } from './activities';

const steps = activities<
  | 'resumeHeldPayouts'
  | 'wakeWaitingPayouts'
  | 'restartPayouts'
  | 'restartPayments'
  | 'restartWebhookDeliveries'
  | 'followPayoutSchedules'
>({
  startToCloseTimeout: '60 seconds',
  // The schedule runs again soon, so a run must be short.
  retry: { maximumAttempts: 3 },
});

/** The number of payouts, payments and webhook deliveries whose workflow was ensured. */
interface Restarted {
  /** Payouts that were held by a pause and continue. */
  resumed: number;
  /** Payouts that were not told that a condition is met. */
  released: number;
  payouts: number;
  payments: number;
  deliveries: number;
  /** Runs of schedules of payouts without a workflow. */
  schedules: number;
  /** Steps that did not end in time, because the machine is busy. The next run continues them. */
  postponed: number;
}

/** A step that fails does not stop the others; the run then fails with the first failure. */
export async function restartMissingWorkflow(): Promise<Restarted> {
  const failures: unknown[] = [];
  let postponed = 0;
  const attempt = async (step: Activities['restartPayouts']): Promise<number> => {
    try {
      return (await step()).ensured;
    } catch (error) {
      if (isLate(error)) postponed += 1;
      else failures.push(error);
      return 0;
    }
  };
  const restarted = {
    resumed: await attempt(steps.resumeHeldPayouts),
    released: patched('conditions-apart') ? await attempt(steps.wakeWaitingPayouts) : 0,
    payouts: await attempt(steps.restartPayouts),
    payments: await attempt(steps.restartPayments),
    deliveries: await attempt(steps.restartWebhookDeliveries),
    schedules: await attempt(steps.followPayoutSchedules),
  };
  if (failures.length > 0) throw failures[0];
  return { ...restarted, postponed };
}

function isLate(error: unknown): boolean {
  return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure;
}

/** Started when an operator lifts a pause. @returns how many held payouts it has woken */
export async function resumeHeldWorkflow(): Promise<number> {
  return (await steps.resumeHeldPayouts()).ensured;
}
