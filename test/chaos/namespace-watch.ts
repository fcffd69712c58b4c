/**
 * Temporal's development server can lose its database for good when a request ends while it is asked ("interrupted (9)"
 * for each later statement): it then says that it does not know a namespace which it has, or the status of its shard,
 * or nothing. Only a restart ends that, so this restarts it, as an operator would.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { Layout } from './layout';

const ASK_EVERY_MS = 1_000;
/** The number of the last answers that say that it is not there: more than a start explains. */
const LAST = 15;
const LOST_MAX = 5;
/** Longer than any fault of the plan lets it be silent. */
const SILENT_MAX = 60;

type Answer = 'fine' | 'lost' | 'none';

export interface NamespaceWatch {
  /** @returns how often it restarted the server */
  stop(): Promise<number>;
}

export function watchNamespace(layout: Layout, log: (line: string) => void): NamespaceWatch {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace = '' } = layout.gateway.env;
  const connection = Connection.lazy({ address: address ?? '' });
  const ended = new AbortController();
  const watch = async (): Promise<number> => {
    let restarts = 0;
    let answers: Answer[] = [];
    while (!ended.signal.aborted) {
      answers = [...answers, await ask(connection, namespace)].slice(-SILENT_MAX);
      const isLost = answers.slice(-LAST).filter((one) => one === 'lost').length > LOST_MAX;
      const isSilent = answers.length === SILENT_MAX && answers.every((one) => one !== 'fine');
      if (isLost || isSilent) {
        log('Temporal has lost its database and is restarted');
        await layout.servers.temporal.kill();
        await layout.servers.temporal.start();
        restarts += 1;
        answers = [];
      }
      await sleep(ASK_EVERY_MS);
    }
    return restarts;
  };
  const watching = watch();
  watching.catch(() => undefined);
  return {
    stop: async () => {
      ended.abort();
      return watching.finally(() => connection.close());
    },
  };
}

const LOST = /Namespace .* is not found|shard status unknown|interrupted \(9\)/;

/** Asks for a workflow which is not there: the server looks up the namespace first, and then its shard. */
async function ask(connection: Connection, namespace: string): Promise<Answer> {
  const execution = { workflowId: 'namespace-watch' };
  try {
    await connection.withDeadline(Date.now() + ASK_EVERY_MS, () =>
      connection.workflowService.describeWorkflowExecution({ namespace, execution }),
    );
    return 'fine';
  } catch (error) {
    if (LOST.test(String(error))) return 'lost';
    return /not found|NOT_FOUND/i.test(String(error)) ? 'fine' : 'none';
  }
}
