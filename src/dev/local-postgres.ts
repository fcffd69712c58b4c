/**
 * The local PostgreSQL of `npm start` and the tests: created, started, stopped, cleaned up after
 * a crash.
 *
 * It listens on 127.0.0.1 only, without a Unix socket, and requires a password: a superuser
 * without one would let any local user run programs through it. The password is generated and
 * kept beside the data folder in `<dataDir>.password`, mode 0600.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { SetupError } from '../platform/lib/setup-error';
import { choosePostgresUser, preparePostgresBinaries, type RunAs } from './postgres-binaries';
import { commandLineOf, identifyProcess, isSameProcess, stopProcess } from './processes';
import type { LogLine } from './progress';
import { type ServerProcess, spawnServer } from './server-process';

const HOST = '127.0.0.1';
const SUPERUSER = 'postgres';
const START_TIMEOUT_MS = 60_000;
/** A server that was killed with SIGKILL leaves children that take a moment to notice. */
const ORPHANS_TIMEOUT_MS = 10_000;
const FAST_STOP_MS = 4_000;
const PG_STARTING_UP = '57P03';

const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  // Nothing replicates from here.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Compiling a plan costs more than the gateway's short queries.
  jit: 'off',
  log_checkpoints: 'off',
} as const;

/** These settings are for tests, where nothing has to survive the machine. */
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } as const;

export interface LocalPostgresOptions {
  /** An absolute path; created when missing, kept over restarts. */
  dataDir: string;
  port: number;
  logFile: string;
  log: LogLine;
  /** Tests set it to false, which is faster and does not survive a crash of the machine. */
  durable?: boolean;
  /** Called with the server's process id at once, before it answers. */
  onSpawn?: (pid: number) => void;
}

export interface LocalPostgres {
  /** Connects the superuser to the database `postgres`. */
  superuserUrl: string;
  pid: number;
  stop: () => Promise<void>;
}

/**
 * Starts the server on the folder's data and resolves when it answers queries.
 * @throws SetupError for a damaged folder, one that PostgreSQL's user cannot enter, a taken port
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const native = preparePostgresBinaries();
  mkdirSync(dirname(options.dataDir), { recursive: true });
  const runAs = choosePostgresUser(native, dirname(options.dataDir));
  await stopLeftoverPostgres(options.dataDir, options.log);
  if (!existsSync(options.dataDir)) {
    options.log('creating the local database');
    createCluster(native, runAs, options);
  }
  const password = readPassword(options.dataDir);
  const superuserUrl = `postgres://${SUPERUSER}:${password}@${HOST}:${options.port}/postgres`;
  const pid = await startServer(native, runAs, superuserUrl, options);
  return { superuserUrl, pid, stop: () => stopServer(pid) };
}

/**
 * Stops a server that a killed run left behind on this folder; does nothing when there is none.
 * The folder's postmaster.pid names it; its command line must name the folder too, because the
 * id may belong to another process by now.
 */
export async function stopLeftoverPostgres(dataDir: string, log: LogLine): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  if (identifyProcess(pid) !== null && commandLineOf(pid).includes(dataDir)) {
    log(`stopping PostgreSQL (pid ${pid}), left behind by an earlier run`);
    await stopServer(pid);
    return;
  }
  // The id is free, or belongs to another process or to a zombie; PostgreSQL would take the latter
  // two for its running self. The file itself must stay: with its other lines PostgreSQL finds
  // surviving children. So it gets the id of a process that has certainly ended.
  const ended = spawnSync(process.execPath, ['--version'], { stdio: 'ignore' }).pid;
  writeFileSync(pidFile, [ended.toString(), ...lines.slice(1)].join('\n'));
}

/**
 * The cluster is made under another name and renamed, so that an interrupted first start leaves no
 * damage.
 */
function createCluster(native: string, runAs: RunAs | null, options: LocalPostgresOptions): void {
  const draft = `${options.dataDir}.new`;
  const passwordFile = `${options.dataDir}.init`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const password = randomBytes(24).toString('hex');
  // The user that runs initdb may not read our own password file.
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (runAs !== null) {
    for (const path of [draft, passwordFile]) chownSync(path, runAs.uid, runAs.gid);
  }
  const [program, args] = command(join(native, 'bin', 'initdb'), runAs, [
    `--pgdata=${draft}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(options.durable === false ? ['--no-sync'] : []),
  ]);
  const result = spawnSync(program, args, { ...spawnOptions(runAs), encoding: 'utf8' });
  rmSync(passwordFile, { force: true });
  if (result.status !== 0) {
    throw new SetupError(`initdb failed: ${result.stderr.trim() || String(result.error)}`);
  }
  writeFileSync(passwordPath(options.dataDir), password, { mode: 0o600 });
  renameSync(draft, options.dataDir);
}

async function startServer(
  native: string,
  runAs: RunAs | null,
  superuserUrl: string,
  options: LocalPostgresOptions,
): Promise<number> {
  const orphansDeadline = performance.now() + ORPHANS_TIMEOUT_MS;
  for (;;) {
    const server = spawnPostgres(native, runAs, options);
    const { pid } = server;
    options.onSpawn?.(pid);
    try {
      if (await waitUntilReady(server, superuserUrl)) return pid;
    } catch (error) {
      await stopServer(pid);
      throw error;
    }
    const output = server.output();
    if (
      !output.includes('pre-existing shared memory block') ||
      performance.now() > orphansDeadline
    ) {
      throw explainFailure(output, options);
    }
    await sleep(200);
  }
}

function spawnPostgres(
  native: string,
  runAs: RunAs | null,
  { dataDir, port, logFile, durable }: LocalPostgresOptions,
): ServerProcess {
  const settings = { ...SETTINGS, ...(durable === false ? NOT_DURABLE : {}) };
  const [program, args] = command(join(native, 'bin', 'postgres'), runAs, [
    '-D',
    dataDir,
    '-p',
    port.toString(),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  return spawnServer(program, args, { ...spawnOptions(runAs), logFile });
}

/** Resolves to true when the server answers, and to false when it has ended. */
async function waitUntilReady(server: ServerProcess, superuserUrl: string): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!server.hasEnded()) {
    const client = new Client({ connectionString: superuserUrl });
    try {
      await client.connect();
      return true;
    } catch (error) {
      const waiting = error instanceof DatabaseError && error.code === PG_STARTING_UP;
      if (error instanceof DatabaseError && !waiting) throw explainRefusal(error);
      if (performance.now() > deadline) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
    await sleep(25);
  }
  return false;
}

function explainFailure(
  output: string,
  { dataDir, port, logFile }: LocalPostgresOptions,
): SetupError {
  if (output.includes('Address already in use')) {
    return new SetupError(`Port ${port} for PostgreSQL is in use by another program.`);
  }
  const reason = /(?:FATAL|PANIC|postgres): +(.+)/.exec(output)?.[1] ?? 'no message in its log';
  return new SetupError(
    `PostgreSQL failed to start on ${dataDir} (${reason}). If that folder is damaged, run ` +
      `\`npm run reset\` to remove all local data. The log is ${logFile}.`,
  );
}

function explainRefusal(error: DatabaseError): SetupError {
  return new SetupError(
    `The local PostgreSQL refused the connection (${error.message}): its password file does not ` +
      'match the database folder. Run `npm run reset` to remove both.',
  );
}

async function stopServer(pid: number): Promise<void> {
  const identity = identifyProcess(pid);
  if (identity === null) return;
  await stopProcess(pid, { signal: 'SIGINT', graceMs: FAST_STOP_MS, lastSignal: 'SIGQUIT' });
  // SIGQUIT lets it end its children, which SIGKILL would leave behind.
  if (isSameProcess(identity)) await stopProcess(pid, { signal: 'SIGKILL', graceMs: 1_000 });
}

function readPassword(dataDir: string): string {
  try {
    if (!existsSync(join(dataDir, 'PG_VERSION'))) throw new Error('PG_VERSION is missing');
    return readFileSync(passwordPath(dataDir), 'utf8').trim();
  } catch (error) {
    throw new SetupError(
      `The database folder ${dataDir} is damaged or incomplete ` +
        `(${error instanceof Error ? error.message : 'unreadable'}). ` +
        'Run `npm run reset` to remove all local data.',
      { cause: error },
    );
  }
}

function passwordPath(dataDir: string): string {
  return `${dataDir}.password`;
}

function command(program: string, runAs: RunAs | null, args: string[]): [string, string[]] {
  const [first = program, ...rest] = [...(runAs?.prefix ?? []), program, ...args];
  return [first, rest];
}

/** PG… variables of the caller's shell must not change our server. */
function spawnOptions(runAs: RunAs | null): {
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
} {
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' };
  // With a prefix, setpriv changes the user, still as root.
  const changesUser = runAs !== null && runAs.prefix.length === 0;
  return { cwd: '/', env, ...(changesUser ? { uid: runAs.uid, gid: runAs.gid } : {}) };
}
