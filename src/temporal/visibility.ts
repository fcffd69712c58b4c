/** Queries to Temporal: runs that ended abnormally, and open runs. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { WORKFLOWS } from '../../workflows/names';

export interface ClosedWorkflows {
  /** The ids of payouts or payments whose workflow was recently terminated, cancelled or failed. */
  listUnfinished(workflow: 'payout' | 'payment'): Promise<string[]>;
}

/** Longer than a deployment interrupts restart-missing; the sweep of the rows finds the others. */
const LOOK_BACK_MS = 60 * 60 * 1000;
const UNFINISHED_MAX = 1_000;

export function createClosedWorkflows(client: Client): ClosedWorkflows {
  return {
    async listUnfinished(workflow) {
      const since = new Date(Date.now() - LOOK_BACK_MS).toISOString();
      const query =
        `WorkflowType = '${WORKFLOWS[workflow]}' AND CloseTime > '${since}' ` +
        `AND ExecutionStatus IN ('Terminated', 'Canceled', 'Failed', 'TimedOut')`;
      const ids = new Set<string>();
      for await (const { workflowId } of client.workflow.list({ query })) {
        ids.add(workflowId);
        if (ids.size === UNFINISHED_MAX) break;
      }
      return [...ids];
    },
  };
}

export interface LiveWorkflows {
  /** The workflow ids without an open run (invariant 12). */
  findMissing(ids: readonly string[]): Promise<string[]>;
}

/** Described one by one; above this number the list is trusted. */
const DESCRIBED_MAX = 500;

export function createLiveWorkflows(client: Client): LiveWorkflows {
  return {
    async findMissing(ids) {
      if (ids.length === 0) return [];
      const running = await listRunning(client);
      const unlisted = ids.filter((id) => !running.has(id));
      const missing: string[] = [];
      for (const id of unlisted.slice(0, DESCRIBED_MAX)) {
        // Unlike the list, this is up to date.
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
