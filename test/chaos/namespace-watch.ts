/**
 * Temporal's development server sometimes says, for minutes, that it does not know a namespace which
 * it has. Only a restart ends that, so this restarts it, as an operator would.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { Layout } from './layout';

const ASK_EVERY_MS = 1_000;
/** The number of the last answers that say that it is not there: more than a start explains. */
const LAST = 15;
const UNKNOWN_MAX = 5;

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
    let unknown: boolean[] = [];
    while (!ended.signal.aborted) {
      unknown = [...unknown, await isUnknown(connection, namespace)].slice(-LAST);
      if (unknown.filter(Boolean).length > UNKNOWN_MAX) {
        log('Temporal has lost its namespace and is restarted');
        await layout.servers.temporal.kill();
        await layout.servers.temporal.start();
        restarts += 1;
        unknown = [];
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

/** Asks for a workflow which is not there: the server looks up the namespace first. */
async function isUnknown(connection: Connection, namespace: string): Promise<boolean> {
  const execution = { workflowId: 'namespace-watch' };
  try {
    await connection.withDeadline(Date.now() + ASK_EVERY_MS, () =>
      connection.workflowService.describeWorkflowExecution({ namespace, execution }),
    );
    return false;
  } catch (error) {
    return /Namespace .* is not found/.test(String(error));
  }
}
