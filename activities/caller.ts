/**
 * The workflow that calls an activity. What belongs to a payout, a payment or a webhook delivery is
 * done only for its own workflow, whose id is the object's id: whoever may start workflows must not
 * move money through another one, where nobody looks for it.
 */
import { asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { openCase } from '../src/db/repositories/cases';
import type { Db } from '../src/db/transaction';

interface Caller {
  workflowId: string;
  runId: string;
}

/** Null outside of an activity. */
export function callingWorkflow(): Caller | null {
  return asyncLocalStorage.getStore()?.info.workflowExecution ?? null;
}

/** @throws ApplicationFailure that is not retried, and opens a case, for another workflow */
export async function requireOwnWorkflow(db: Db, objectId: string): Promise<void> {
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
