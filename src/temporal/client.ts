/**
 * The Temporal client: the connection, and how workflows are started and messaged. Payouts,
 * payments and webhook deliveries each describe how they start; deadlines and the translation of
 * Temporal's failures are shared and are here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { Logger } from 'pino';
import {
  readCredentials,
  readTemporal,
  type TemporalCredentials,
  type TemporalOptions,
} from './connection';
import { grpcError } from './grpc-codes';
import { REPLACED_CLOSES_AFTER_MS, replaceable } from './replaceable';
import { TRACE_OF_STARTS } from './trace';
import { wallClockMs } from '../platform/lib/wall-clock';

/** The SDK's own waits between attempts grow to 10 s, which is too long for every caller. */
const RETRY_WAIT_MS_MAX = 1_000;
const RETRY_MARGIN_MS = 20;

const CHANNEL = {
  // These two settings notice a silent network, and the next call opens another connection.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // Without this setting a channel that replaces another one shares its connection.
  'grpc.use_local_subchannel_pool': 1,
};

/**
 * grpc-js waits without an end for the first frame of a server: a connection that was opened while the
 * network was silent never speaks. A connection that fails and has not succeeded for this long is
 * replaced.
 */
const SILENT_MS_MAX = 5_000;
const NOT_REACHED = ['DEADLINE_EXCEEDED', 'UNAVAILABLE'];
/** The calls of a replaced connection have ended after this time. */
const SILENT_CLOSES_AFTER_MS = 15_000;

export interface TemporalClient extends Client {
  /** Uses other credentials from now on. */
  renew(credentials: TemporalCredentials): void;
  /** Closes every connection, also those that were replaced. */
  close(): Promise<void>;
}

/** The client of a program that is not a server. @throws SetupError */
export function createCommandClient(env: NodeJS.ProcessEnv, otherwise?: string): TemporalClient {
  return createTemporalClient(readTemporal(env, otherwise));
}

/**
 * Connects on first use, so that the API starts without Temporal.
 * @param onError is called with the gRPC code of each call that fails
 */
export function createTemporalClient(
  options: TemporalOptions,
  onError: (code: string) => void = () => undefined,
): TemporalClient {
  const { address, namespace } = options;
  let credentials = readCredentials(options);
  let succeededAt = performance.now();
  const note = (error: string | null): void => {
    if (error === null) succeededAt = performance.now();
    else {
      onError(error);
      const isSilent = performance.now() - succeededAt >= SILENT_MS_MAX;
      if (isSilent && NOT_REACHED.includes(error)) replace(SILENT_CLOSES_AFTER_MS);
    }
  };
  const open = replaceable(openConnection(address, credentials, note));
  const replaced = new Set<Connection>();
  const replace = (closesAfterMs: number): void => {
    const former = open.current();
    open.replace(openConnection(address, credentials, note));
    succeededAt = performance.now();
    replaced.add(former);
    setTimeout(() => {
      if (replaced.delete(former)) void former.close();
    }, closesAfterMs).unref();
  };
  const client = new Client({
    connection: open.connection,
    namespace,
    interceptors: { workflow: [TRACE_OF_STARTS] },
  });
  return Object.assign(client, {
    renew: (next: TemporalCredentials) => {
      credentials = next;
      replace(REPLACED_CLOSES_AFTER_MS);
    },
    close: async () => {
      const connections = [open.current(), ...replaced];
      replaced.clear();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  });
}

function openConnection(
  address: string,
  { tls, apiKey, metadata }: TemporalCredentials,
  note: (error: string | null) => void,
): Connection {
  const standard = defaultGrpcRetryOptions();
  let isClosed = false;
  let nextRetryAt = 0;
  const retries = makeGrpcRetryInterceptor({
    // This function sees the outcome of every call, also of those that succeed.
    retryableDecider: (attempt, status) => {
      note(grpcError(status.code));
      return !isClosed && standard.retryableDecider(attempt, status);
    },
    delayFunction: (attempt, status) => {
      const waitMs = Math.min(standard.delayFunction(attempt, status), RETRY_WAIT_MS_MAX);
      nextRetryAt = Math.max(nextRetryAt, performance.now() + waitMs);
      return waitMs;
    },
  });
  const connection = Connection.lazy({
    address,
    interceptors: [retries],
    channelArgs: CHANNEL,
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  const close = connection.close.bind(connection);
  // A retry on a closed channel throws in its timer, which would end the process.
  connection.close = async () => {
    isClosed = true;
    await sleep(Math.max(0, nextRetryAt - performance.now()) + RETRY_MARGIN_MS);
    await close();
  };
  return connection;
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
  | 'workflowTaskTimeout'
  | 'requestEagerStart'
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
   * Starts the workflow unless it runs or the reuse policy forbids it; its tasks wait behind those
   * of new payouts and payments.
   * @param accountId accounts take turns where the server has fairness keys
   * @throws without an answer
   */
  ensureRunning(start: StartOptions, accountId?: string): Promise<void>;
}

/** The default is 3. After an outage of Temporal thousands of workflows start at once. */
const BEHIND_NEW_ONES = 4;

const START_DEADLINE_MS = 5_000;

/** Without an answer, Temporal is probed after this time, and again after each answered probe. */
const PROBE_AFTER_MS = 500;

/** The time that somebody waits for Temporal. */
export interface Patience {
  signalMs: number;
  /** Temporal counts as gone when it does not answer a probe in this time. */
  probeMs: number;
}

/**
 * Together with PROBE_AFTER_MS it is below 2 s, after which a merchant gets the 503 when Temporal is
 * gone.
 */
const REQUEST: Patience = { signalMs: 3_000, probeMs: 1_200 };
/** An operator who runs a command prefers an outcome to a quick "unknown". */
export const COMMAND: Patience = { signalMs: 15_000, probeMs: 10_000 };

export interface StarterOptions {
  /** Logs the causes of missing answers, which callers turn into a 503 or retry. */
  logger?: Pick<Logger, 'warn'> | undefined;
  /** The default is the patience of a merchant's request. */
  patience?: Patience | undefined;
}

export function createStarter(
  client: Client,
  workflowType: string,
  { logger, patience = REQUEST }: StarterOptions = {},
): Starter {
  const ask = async <T>(
    { workflowId }: StartOptions,
    deadlineMs: number,
    call: () => Promise<T>,
  ): Promise<T | Closed | NoAnswer> => {
    try {
      return await whileReachable(client, { deadlineMs, probeMs: patience.probeMs }, call);
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'closed' };
      logger?.warn({ err: error, workflow_id: workflowId }, 'no answer from the workflow');
      return { kind: 'no_answer', cause: error };
    }
  };
  return {
    update: (start, { name, id, args, deadlineMs }) =>
      ask(start, deadlineMs, () =>
        client.workflow.executeUpdateWithStart(name, {
          updateId: id,
          args,
          startWorkflowOperation: new WithStartWorkflowOperation(workflowType, {
            ...start,
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        }),
      ),

    signal: (start, name, ...args) =>
      ask(start, patience.signalMs, async () => {
        await client.workflow.signalWithStart(workflowType, {
          ...start,
          signal: name,
          signalArgs: args,
        });
        return { kind: 'sent' };
      }),

    ensureRunning: async (start, accountId) => {
      const result = await ask(start, START_DEADLINE_MS, () =>
        client.workflow.start(workflowType, {
          ...start,
          workflowIdConflictPolicy: 'USE_EXISTING',
          priority: {
            priorityKey: BEHIND_NEW_ONES,
            ...(accountId === undefined ? {} : { fairnessKey: accountId }),
          },
        }),
      );
      if ('kind' in result && result.kind === 'no_answer') throw result.cause;
    },
  };
}

/**
 * The call's result. The call is given up at its deadline, and earlier when Temporal cannot be reached.
 */
async function whileReachable<T>(
  client: Client,
  { deadlineMs, probeMs }: { deadlineMs: number; probeMs: number },
  call: () => Promise<T>,
): Promise<T> {
  const cancelled = new AbortController();
  const probes = startProbes(client, probeMs);
  try {
    return await Promise.race([
      client.withDeadline(wallClockMs() + deadlineMs, () =>
        client.withAbortSignal(cancelled.signal, call),
      ),
      probes.failed,
    ]);
  } catch (error) {
    cancelled.abort();
    throw error;
  } finally {
    probes.stop();
  }
}

interface Probes {
  /** Rejects as soon as Temporal does not answer a probe. */
  failed: Promise<never>;
  stop(): void;
}

/**
 * These are timers without abort signals, which would cost more than the rest: almost no call lasts
 * until the first probe.
 */
function startProbes(client: Client, probeMs: number): Probes {
  let isStopped = false;
  let timer: NodeJS.Timeout;
  const failed = new Promise<never>((_, reject) => {
    const wait = (): void => {
      clearTimeout(timer);
      if (!isStopped) timer = setTimeout(probe, PROBE_AFTER_MS);
    };
    const probe = (): void => {
      const answered = client.withDeadline(wallClockMs() + probeMs, () =>
        client.workflowService.getSystemInfo({}),
      );
      answered.then(wait, reject);
      // Connecting ignores the deadline, so a timer enforces it.
      timer = setTimeout(() => {
        reject(new Error('Temporal cannot be reached.'));
      }, probeMs);
    };
    wait();
  });
  // After the call nobody waits for the probes.
  failed.catch(() => undefined);
  return {
    failed,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
