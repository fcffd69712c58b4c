/** Asks Temporal which objects have no workflow that runs (invariant 12). */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

export interface LiveWorkflows {
  /** Of these workflow ids, those that have no run that is open. */
  findMissing(ids: readonly string[]): Promise<string[]>;
}

/** Asked one by one; beyond this the list is believed. */
const DESCRIBED_MAX = 500;

export function createLiveWorkflows(client: Client): LiveWorkflows {
  return {
    async findMissing(ids) {
      if (ids.length === 0) return [];
      const running = await listRunning(client);
      const unlisted = ids.filter((id) => !running.has(id));
      const missing: string[] = [];
      for (const id of unlisted.slice(0, DESCRIBED_MAX)) {
        // The list lags behind; this does not.
        if (!(await isRunning(client, id))) missing.push(id);
      }
      return [...missing, ...unlisted.slice(DESCRIBED_MAX)];
    },
  };
}

async function listRunning(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  const list = client.workflow.list({ query: `ExecutionStatus = 'Running'`, pageSize: 1_000 });
  for await (const { workflowId } of list) ids.add(workflowId);
  return ids;
}

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
