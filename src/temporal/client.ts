/**
 * The Temporal client: the connection, and how workflows are started and messaged. Payouts,
 * payments and webhook deliveries each describe how they start; deadlines and the translation of
 * Temporal's failures are shared and are here.
 */
import {
  Client,
  Connection,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from '@temporalio/client';

export interface TemporalOptions {
  address: string;
  namespace: string;
}

/** Connects on first use, so that the API starts without Temporal. */
export function createTemporalClient({ address, namespace }: TemporalOptions): Client {
  return new Client({ connection: Connection.lazy({ address }), namespace });
}

/** The workflow did not answer in time or was unreachable: the outcome is unknown. */
export interface NoAnswer {
  kind: 'no_answer';
  cause: unknown;
}

/** The workflow has completed: its object is final or was never created. */
export interface Closed {
  kind: 'closed';
}

/** The workflow has received the signal. */
export interface Sent {
  kind: 'sent';
}

/** The workflow's id is the id of its object, so an object has at most one workflow. */
export type StartOptions = Pick<
  WorkflowStartOptions,
  | 'workflowId'
  | 'taskQueue'
  | 'args'
  | 'staticSummary'
  | 'typedSearchAttributes'
  | 'workflowIdReusePolicy'
>;

interface Update {
  name: string;
  /** A repeated id returns the first outcome. */
  id: string;
  args: unknown[];
  deadlineMs: number;
}

export interface Starter {
  /** Update-with-start: starts the workflow unless it runs, and waits for the update's outcome. */
  update<Outcome>(start: StartOptions, update: Update): Promise<Outcome | Closed | NoAnswer>;
  /** Signal-with-start. */
  signal(start: StartOptions, name: string, ...args: unknown[]): Promise<Sent | Closed | NoAnswer>;
  /**
   * Starts the workflow unless it runs or the reuse policy forbids it.
   * @throws without an answer
   */
  ensureRunning(start: StartOptions): Promise<void>;
}

const SIGNAL_DEADLINE_MS = 3_000;
const START_DEADLINE_MS = 5_000;

export function createStarter(client: Client, workflowType: string): Starter {
  const within = <T>(ms: number, call: () => Promise<T>) =>
    client.withDeadline(Date.now() + ms, call);
  return {
    update: (start, { name, id, args, deadlineMs }) =>
      translate(() =>
        within(deadlineMs, () =>
          client.workflow.executeUpdateWithStart(name, {
            updateId: id,
            args,
            startWorkflowOperation: new WithStartWorkflowOperation(workflowType, {
              ...start,
              workflowIdConflictPolicy: 'USE_EXISTING',
            }),
          }),
        ),
      ),

    signal: (start, name, ...args) =>
      translate(async () => {
        await within(SIGNAL_DEADLINE_MS, () =>
          client.workflow.signalWithStart(workflowType, {
            ...start,
            signal: name,
            signalArgs: args,
          }),
        );
        return { kind: 'sent' };
      }),

    ensureRunning: async (start) => {
      const result = await translate(() =>
        within(START_DEADLINE_MS, () =>
          client.workflow.start(workflowType, {
            ...start,
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        ),
      );
      if ('kind' in result && result.kind === 'no_answer') throw result.cause;
    },
  };
}

async function translate<T>(ask: () => Promise<T>): Promise<T | Closed | NoAnswer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'closed' };
    return { kind: 'no_answer', cause: error };
  }
}
