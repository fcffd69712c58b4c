/**
 * The local PostgreSQL of `npm start` and the tests: created, started, stopped, cleaned up after
 * a crash. Never used in production.
 *
 * It listens on 127.0.0.1 only, without a Unix socket, and asks for a password: a superuser
 * without one would let any local user run programs through it. The password is generated and
 * kept beside the data folder in `<dataDir>.password`, mode 0600.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { readLogFrom, sizeOf } from '../lib/file-tail';
import type { LogLine } from '../lib/log-line';
import { commandLineOf, identifyProcess, isSameProcess, stopProcess } from '../lib/processes';
import { SetupError } from '../lib/setup-error';
import { choosePostgresUser, preparePostgresBinaries, type RunAs } from './postgres-binaries';

const HOST = '127.0.0.1';
const SUPERUSER = 'postgres';
const START_TIMEOUT_MS = 60_000;
/** A server killed with -9 leaves children that take a moment to notice. */
const ORPHANS_TIMEOUT_MS = 10_000;
const FAST_STOP_MS = 4_000;
const PG_STARTING_UP = '57P03';

const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  // Nothing replicates from here, so the log of changes can be at its smallest.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Compiling a plan costs more than our short queries do.
  jit: 'off',
  log_checkpoints: 'off',
} as const;

/** For tests: nothing has to survive the machine. */
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } as const;

export interface LocalPostgresOptions {
  /** An absolute path; created when missing, kept over restarts. */
  dataDir: string;
  port: number;
  logFile: string;
  log: LogLine;
  /** False is for tests: faster, and the data does not survive a crash of the machine. */
  durable?: boolean;
  /** Told the server's process id at once, before it answers. */
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
 * @throws Error with one sentence that says what to do: a damaged folder, a closed folder, root
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const native = preparePostgresBinaries();
  mkdirSync(dirname(options.dataDir), { recursive: true });
  const runAs = choosePostgresUser(native, dirname(options.dataDir));
  await stopLeftoverPostgres(options.dataDir, options.log);
  if (!existsSync(options.dataDir)) {
    options.log('creating the database folder');
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
    log(`stopping a PostgreSQL that an earlier run left behind (pid ${pid})`);
    await stopServer(pid);
    return;
  }
  // The id is free, or a stranger's, or a zombie's that nobody has reaped; PostgreSQL would take
  // the latter two for its running self. The file itself must stay: with its other lines
  // PostgreSQL finds surviving children. So it gets the id of a process that surely ended.
  const ended = spawnSync(process.execPath, ['--version'], { stdio: 'ignore' }).pid;
  writeFileSync(pidFile, [ended.toString(), ...lines.slice(1)].join('\n'));
}

/** A half-made folder never gets the real name, so an interrupted first start leaves no damage. */
function createCluster(native: string, runAs: RunAs | null, options: LocalPostgresOptions): void {
  const draft = `${options.dataDir}.new`;
  const passwordFile = `${options.dataDir}.init`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const password = randomBytes(24).toString('hex');
  // initdb reads the password as the user that runs it, who may not read our own file of it.
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (runAs !== null) {
    for (const path of [draft, passwordFile]) chownSync(path, runAs.uid, runAs.gid);
  }
  const [program, args] = command(join(native, 'bin', 'initdb'), runAs, [
    ...[`--pgdata=${draft}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
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
  const orphansDeadline = Date.now() + ORPHANS_TIMEOUT_MS;
  for (;;) {
    const logStart = sizeOf(options.logFile);
    const server = spawnServer(native, runAs, options);
    const pid = server.pid;
    if (pid === undefined) throw new SetupError(`${native}/bin/postgres could not be started`);
    options.onSpawn?.(pid);
    try {
      if (await waitUntilReady(server, superuserUrl)) return pid;
    } catch (error) {
      await stopServer(pid);
      throw error;
    }
    const said = readLogFrom(options.logFile, logStart);
    if (!said.includes('pre-existing shared memory block') || Date.now() > orphansDeadline) {
      throw explainFailure(said, options);
    }
    await sleep(200);
  }
}

function spawnServer(
  native: string,
  runAs: RunAs | null,
  { dataDir, port, logFile, durable }: LocalPostgresOptions,
): ChildProcess {
  const settings = { ...SETTINGS, ...(durable === false ? NOT_DURABLE : {}) };
  const [program, args] = command(join(native, 'bin', 'postgres'), runAs, [
    ...['-D', dataDir, '-p', port.toString()],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const logFd = openSync(logFile, 'a', 0o600);
  try {
    const server = spawn(program, args, {
      ...spawnOptions(runAs),
      // A process group of its own: Ctrl-C in the terminal must reach only the supervisor.
      detached: true,
      stdio: ['ignore', logFd, logFd],
    });
    server.on('error', () => undefined);
    server.unref();
    return server;
  } finally {
    closeSync(logFd);
  }
}

/** True when it answers, false when it ended; still starting up is neither. */
async function waitUntilReady(server: ChildProcess, superuserUrl: string): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (server.exitCode === null && server.signalCode === null) {
    const client = new Client({ connectionString: superuserUrl });
    try {
      await client.connect();
      return true;
    } catch (error) {
      const waiting = error instanceof DatabaseError && error.code === PG_STARTING_UP;
      if (error instanceof DatabaseError && !waiting) throw explainRefusal(error);
      if (Date.now() > deadline) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
    await sleep(25);
  }
  return false;
}

function explainFailure(
  said: string,
  { dataDir, port, logFile }: LocalPostgresOptions,
): SetupError {
  if (said.includes('Address already in use')) {
    return new SetupError(`Port ${port}, which PostgreSQL wanted, is taken.`);
  }
  const reason = /(?:FATAL|PANIC|postgres): +(.+)/.exec(said)?.[1] ?? 'it ended without a word';
  return new SetupError(
    `PostgreSQL cannot start on ${dataDir} (${reason}); if that folder is damaged, ` +
      `\`npm run reset\` removes it and the next start begins anew. The whole log is ${logFile}.`,
  );
}

function explainRefusal(error: DatabaseError): SetupError {
  return new SetupError(
    `PostgreSQL refused our own connection (${error.message}); the database folder and its ` +
      'password file do not belong together: `npm run reset` removes both.',
  );
}

async function stopServer(pid: number): Promise<void> {
  const identity = identifyProcess(pid);
  if (identity === null) return;
  await stopProcess(pid, { signal: 'SIGINT', graceMs: FAST_STOP_MS, lastSignal: 'SIGQUIT' });
  // SIGQUIT still lets it end its children, which SIGKILL would leave behind.
  if (isSameProcess(identity)) await stopProcess(pid, { signal: 'SIGKILL', graceMs: 1_000 });
}

function readPassword(dataDir: string): string {
  try {
    if (!existsSync(join(dataDir, 'PG_VERSION'))) throw new Error('PG_VERSION is missing');
    return readFileSync(passwordPath(dataDir), 'utf8').trim();
  } catch (error) {
    throw new SetupError(
      `The database folder ${dataDir} is damaged or incomplete ` +
        `(${error instanceof Error ? error.message : 'unreadable'}); ` +
        '`npm run reset` removes it and the next start begins anew.',
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
  // With a prefix it is setpriv, still as root, that changes the user.
  const changesUser = runAs !== null && runAs.prefix.length === 0;
  return { cwd: '/', env, ...(changesUser ? { uid: runAs.uid, gid: runAs.gid } : {}) };
}
