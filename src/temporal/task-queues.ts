/** What Temporal knows of the task queues: who takes their tasks, and how many wait. */
import type { Client } from '@temporalio/client';
import { TASK_QUEUES } from '../../workflows/names';
import { wallClockMs } from '../platform/lib/wall-clock';

export interface TaskQueueWorker {
  /** Process and host. */
  name: string;
  /** Its version; null if workers have no versions. */
  buildId: string | null;
}

export interface TaskQueueState {
  queue: string;
  /** About how many tasks no worker has taken, workflow tasks and activities together. */
  waiting: number;
  /** How long the oldest of them has waited. */
  waitedMs: number;
  /** The workers that asked for tasks in the last minutes. */
  workers: TaskQueueWorker[];
}

const PATIENCE_MS = 2_000;
/** Numbers of the wire protocol: TASK_QUEUE_TYPE_WORKFLOW and TASK_QUEUE_TYPE_ACTIVITY. */
const TYPES = [1, 2];

/** @returns the state of each queue; null when Temporal does not answer */
export async function readTaskQueues(
  client: Client,
  providerQueues: readonly string[],
): Promise<TaskQueueState[] | null> {
  const queues = [...Object.values(TASK_QUEUES), ...providerQueues];
  try {
    return await client.withDeadline(wallClockMs() + PATIENCE_MS, () =>
      Promise.all(queues.map((queue) => readTaskQueue(client, queue))),
    );
  } catch {
    return null;
  }
}

async function readTaskQueue(client: Client, queue: string): Promise<TaskQueueState> {
  const { namespace } = client.options;
  const answers = await Promise.all(
    TYPES.map((taskQueueType) => {
      const request: object = {
        namespace,
        taskQueueType,
        taskQueue: { name: queue },
        reportStats: true,
      };
      return client.workflowService.describeTaskQueue(request);
    }),
  );
  const stats = answers.flatMap((answer) => answer.stats ?? []);
  const pollers = answers.flatMap((answer) => answer.pollers);
  const workers = new Map(
    pollers.map(({ identity, deploymentOptions }) => {
      const name = identity ?? '';
      return [name, { name, buildId: deploymentOptions?.buildId ?? null }];
    }),
  );
  return {
    queue,
    waiting: stats.reduce((sum, one) => sum + Number(one.approximateBacklogCount ?? 0), 0),
    waitedMs: Math.max(
      0,
      ...stats.map((one) => Number(one.approximateBacklogAge?.seconds ?? 0) * 1_000),
    ),
    workers: [...workers.values()].toSorted((one, other) => one.name.localeCompare(other.name)),
  };
}
