/**
 * The local Temporal server of `npm start` and the tests: `temporal server start-dev` with our
 * settings, started, watched until it serves, and stopped.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { SetupError } from '../platform/lib/setup-error';
import { wallClockMs } from '../platform/lib/wall-clock';
import { SEARCH_ATTRIBUTES } from '../temporal/search-attributes';
import { stopProcess } from './processes';
import type { LogLine } from './progress';
import { type ServerProcess, spawnServer } from './server-process';
import { findTemporalCli } from './temporal-cli';

const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 4_000;

/**
 * The development server has one history shard, and its queues are polled at most 20 times a second by
 * default, so every workflow task would wait for the next 50 ms. With higher limits a workflow of three
 * activities takes 86 ms and not 350. Eager activities and priorities are off in server 1.29 by
 * default.
 */
const DYNAMIC_CONFIG = {
  'history.transferProcessorMaxPollRPS': '1000',
  'history.timerProcessorMaxPollRPS': '1000',
  'history.visibilityProcessorMaxPollRPS': '200',
  'system.enableActivityEagerExecution': 'true',
  'matching.useNewMatcher': 'true',
  // A query during a local activity could make the history unreplayable (decisions/workflows#queries).
  'history.MaxBufferedQueryCount': '0',
} as const;

/**
 * The disk is not synchronized at each commit, because a power cut loses only a moment of development.
 */
const SQLITE_PRAGMAS = { journal_mode: 'wal', synchronous: '1' } as const;

export interface LocalTemporalOptions {
  /** The file that keeps the state over restarts; null keeps it in memory. */
  dbFile: string | null;
  port: number;
  /** null starts no web UI. */
  uiPort: number | null;
  logFile: string;
  log: LogLine;
  /** Called with the server's process id at once, before it serves. */
  onSpawn?: (pid: number) => void;
}

export interface LocalTemporal {
  address: string;
  uiUrl: string | null;
  cliPath: string;
  pid: number;
  stop: () => Promise<void>;
}

/**
 * Starts the server and resolves when it answers for its namespace.
 * @throws SetupError with the end of the server's log when it ends or does not answer in a minute
 */
export async function startLocalTemporal(options: LocalTemporalOptions): Promise<LocalTemporal> {
  const cli = await findTemporalCli(options.log);
  options.log(`Temporal CLI: ${cli.path} (${cli.source})`);
  const server = spawnServer(cli.path, serverArguments(options), { logFile: options.logFile });
  const { pid } = server;
  options.onSpawn?.(pid);
  const stop = (): Promise<void> => stopProcess(pid, { signal: 'SIGINT', graceMs: STOP_GRACE_MS });
  const address = `${HOST}:${options.port}`;
  try {
    await waitUntilServing(server, options);
  } catch (error) {
    await stop();
    throw error;
  }
  const uiUrl = options.uiPort === null ? null : `http://${HOST}:${options.uiPort}`;
  return { address, uiUrl, cliPath: cli.path, pid, stop };
}

/**
 * Resolves when the cluster answers for the namespace.
 * @throws the last connection error when it does not within the time
 */
export async function waitForTemporal(
  address: string,
  namespace: string,
  timeoutMs: number,
): Promise<void> {
  const connection = Connection.lazy({ address, connectTimeout: timeoutMs });
  const deadline = performance.now() + timeoutMs;
  try {
    for (;;) {
      try {
        await connection.withDeadline(wallClockMs() + 2_000, () =>
          connection.workflowService.describeNamespace({ namespace }),
        );
        return;
      } catch (error) {
        if (performance.now() >= deadline) throw error;
        await sleep(50);
      }
    }
  } finally {
    await connection.close();
  }
}

function serverArguments({ dbFile, port, uiPort }: LocalTemporalOptions): string[] {
  const repeat = (flag: string, values: Record<string, string>): string[] =>
    Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  return [
    'server',
    'start-dev',
    '--ip',
    HOST,
    '--port',
    port.toString(),
    '--log-level',
    'warn',
    ...(uiPort === null ? ['--headless'] : ['--ui-port', uiPort.toString()]),
    ...(dbFile === null ? [] : ['--db-filename', dbFile]),
    ...repeat('--dynamic-config-value', DYNAMIC_CONFIG),
    ...repeat('--sqlite-pragma', SQLITE_PRAGMAS),
    ...repeat('--search-attribute', SEARCH_ATTRIBUTES),
  ];
}

async function waitUntilServing(
  server: ServerProcess,
  options: LocalTemporalOptions,
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  // The port is tried first, because gRPC would back off for a second after its first refused
  // connection.
  while (!(await acceptsConnections(options.port))) {
    if (server.hasEnded() || performance.now() >= deadline) throw explainFailure(server, options);
    await sleep(25);
  }
  await waitForTemporal(`${HOST}:${options.port}`, 'default', deadline - performance.now());
}

function explainFailure(
  server: ServerProcess,
  { dbFile, logFile }: LocalTemporalOptions,
): SetupError {
  const lastLine = server.output().trim().split('\n').at(-1) ?? '';
  const reason = /msg="(.+)"$/.exec(lastLine)?.[1] ?? lastLine;
  const remedy =
    dbFile === null
      ? ''
      : ` If ${dbFile} is damaged, run \`npm run reset\` to remove all local data.`;
  return new SetupError(
    `The Temporal server ${server.hasEnded() ? 'failed to start' : 'does not answer'} ` +
      `(${reason.slice(0, 300)}).${remedy} The log is ${logFile}.`,
  );
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    const answer = (accepted: boolean) => (): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}
