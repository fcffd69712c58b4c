/**
 * The workflow that calls an activity. The steps of a payout, a payment or a webhook delivery run only
 * for its own workflow, whose id is the object's id: whoever may start workflows must not move money
 * through another one, where nobody looks for it.
 */
import { asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { openCase } from '../src/db/cases/cases';
import { MissingRow, type Db } from '../src/db/transaction';

/** The interval is well below the heartbeat timeout in workflows/activities.ts. */
const HEARTBEAT_MS = 1_000;

interface Caller {
  workflowId: string;
  runId: string;
}

/** The workflow whose activity runs; null outside of an activity. */
export function callingWorkflow(): Caller | null {
  return asyncLocalStorage.getStore()?.info.workflowExecution ?? null;
}

/** Whether the caller's workflow task waits for this activity. */
export function isLocalCall(): boolean {
  return asyncLocalStorage.getStore()?.info.isLocal === true;
}

/**
 * Runs a step of an object for the object's own workflow.
 * @throws ApplicationFailure that is not retried, with a case, for another workflow and for an
 *   object whose row is gone
 */
export async function stepOf<T>(db: Db, objectId: string, step: () => Promise<T>): Promise<T> {
  await requireOwnWorkflow(db, objectId);
  const context = asyncLocalStorage.getStore();
  const beat = setInterval(() => {
    if (context?.info.isLocal === false) context.heartbeat();
  }, HEARTBEAT_MS);
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof MissingRow)) throw error;
    await openCase(db, 'row_missing', objectId, { run_id: callingWorkflow()?.runId ?? null });
    throw ApplicationFailure.nonRetryable(error.message);
  } finally {
    clearInterval(beat);
  }
}

/** @throws ApplicationFailure that is not retried, and opens a case, for another workflow */
async function requireOwnWorkflow(db: Db, objectId: string): Promise<void> {
  const info = asyncLocalStorage.getStore()?.info;
  const caller = info?.workflowExecution;
  if (info === undefined || caller === undefined || caller.workflowId === objectId) return;
  await openCase(db, 'foreign_workflow', objectId, {
    activity: info.activityType,
    workflow_id: caller.workflowId,
    run_id: caller.runId,
    workflow_type: info.workflowType,
  });
  throw ApplicationFailure.nonRetryable(
    `${info.activityType} of ${objectId} may only be called by the workflow ${objectId}`,
  );
}
