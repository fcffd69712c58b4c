/** Queries to Temporal: runs that ended abnormally, open runs, and the objects that it knows. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { WORKFLOWS } from '../../workflows/names';
import { wallClockMs } from '../platform/lib/wall-clock';
import { ACCOUNT_ID, MODE, PAYMENT_STATUS, PAYOUT_STATUS } from './search-attributes';

export interface ClosedWorkflows {
  /** The ids of payouts or payments whose workflow was recently terminated, cancelled or failed. */
  listUnfinished(workflow: 'payout' | 'payment'): Promise<string[]>;
}

/**
 * The look back is longer than a deployment interrupts restart-missing; the sweep of the rows finds
 * older runs.
 */
const LOOK_BACK_MS = 60 * 60 * 1000;
const UNFINISHED_MAX = 1_000;

export function createClosedWorkflows(client: Client): ClosedWorkflows {
  return {
    async listUnfinished(workflow) {
      const since = new Date(wallClockMs() - LOOK_BACK_MS).toISOString();
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

/** Up to this number each workflow is described; above it the list is trusted. */
const DESCRIBED_MAX = 500;

export function createLiveWorkflows(client: Client): LiveWorkflows {
  return {
    async findMissing(ids) {
      if (ids.length === 0) return [];
      const running = await listRunning(client);
      const unlisted = ids.filter((id) => !running.has(id));
      const missing: string[] = [];
      for (const id of unlisted.slice(0, DESCRIBED_MAX)) {
        // A description is up to date, unlike the list.
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

/** A payout or payment as its workflow's list entry shows it. */
export interface KnownObject {
  id: string;
  accountId: string | null;
  mode: string | null;
  /** The last status that the workflow published, or null when it was about to publish one. */
  status: string | null;
  startedAt: Date;
}

const STATUS_ATTRIBUTES = { payout: PAYOUT_STATUS, payment: PAYMENT_STATUS } as const;

/**
 * The objects by their ids. The workflow of a refused request ends without a status, and is left out.
 */
export async function listKnownObjects(
  client: Client,
  kind: 'payout' | 'payment',
  since: Date,
): Promise<Map<string, KnownObject>> {
  const status = STATUS_ATTRIBUTES[kind];
  const query = `WorkflowType = '${WORKFLOWS[kind]}' AND StartTime >= '${since.toISOString()}'`;
  const known = new Map<string, KnownObject>();
  for await (const run of client.workflow.list({ query, pageSize: 1_000 })) {
    const attributes = run.typedSearchAttributes;
    const published = attributes.get(status) ?? null;
    if (published === null && run.status.name === 'COMPLETED') continue;
    known.set(run.workflowId, {
      id: run.workflowId,
      accountId: attributes.get(ACCOUNT_ID) ?? null,
      mode: attributes.get(MODE) ?? null,
      status: published,
      startedAt: run.startTime,
    });
  }
  return known;
}

/** The workflow's summary, which says in a few words what it was started for. */
export async function readSummary(client: Client, workflowId: string): Promise<string | null> {
  const description = await client.workflow.getHandle(workflowId).describe();
  return (await description.staticSummary()) ?? null;
}
