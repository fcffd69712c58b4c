/** Asks Temporal which workflows ended other than by completing. */
import type { Client } from '@temporalio/client';
import { WORKFLOWS } from '../../workflows/names';

export interface ClosedWorkflows {
  /** The ids of payouts or payments whose workflow was terminated, cancelled or failed lately. */
  listUnfinished(workflow: 'payout' | 'payment'): Promise<string[]>;
}

/** Longer than the reconciler can be down for a deployment; the sweep of rows finds the rest. */
const LOOK_BACK_MS = 60 * 60 * 1000;
const MOST = 1_000;

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
        if (ids.size === MOST) break;
      }
      return [...ids];
    },
  };
}
