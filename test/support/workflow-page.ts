/** What an operator reads on the page of a workflow. */
import type { WorkflowHandle } from '@temporalio/client';
import { waitFor } from './wait-for';

/** Temporal refuses the question while a workflow task is pending (decisions/workflows#queries). */
export async function readPage(handle: WorkflowHandle): Promise<string> {
  await waitFor('no pending workflow task', async () => {
    const { raw } = await handle.describe();
    return raw.pendingWorkflowTask === null || raw.pendingWorkflowTask === undefined;
  });
  const page = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return page.currentDetails ?? '';
}
