/**
 * PostgreSQL from the system's packages, as operators run it: with pg_basebackup, which the npm package
 * lacks, WAL for standbys and archives, and a socket for pgBackRest.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '../../src/db/provision';
import { findFreePort } from '../../src/dev/ports';
import { choosePostgresUser, type RunAs } from '../../src/dev/postgres-binaries';
import { findOnPath, isExecutable, stopProcess } from '../../src/dev/processes';
import { type ServerProcess, spawnServer } from '../../src/dev/server-process';
import { waitThroughFaults } from '../support/wait-for';

const run = promisify(execFile);

/** Debian keeps a folder for each version. */
const DEBIAN = '/usr/lib/postgresql';
export const POSTGRES_REMEDY = 'Install PostgreSQL, such as the Debian package postgresql.';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  timezone: 'UTC',
  jit: 'off',
} as const;

const START_TIMEOUT_MS = 200_000;
const STOP_GRACE_MS = 10_000;

/** The folder of initdb, postgres and pg_basebackup, or null when they are not installed. */
export function findSystemPostgres(): string | null {
  const onPath = findOnPath('initdb');
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .map(Number)
        .sort((a, b) => b - a)
    : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN, String(version), 'bin')),
    ...(onPath === null ? [] : [dirname(onPath)]),
  ];
  const needed = ['initdb', 'postgres', 'pg_basebackup'];
  const hasAll = (folder: string) => needed.every((name) => isExecutable(join(folder, name)));
  return folders.find(hasAll) ?? null;
}

/** Where clusters, sockets and backups are, owned by the user that runs PostgreSQL. */
export class PostgresHost {
  readonly folder = mkdtempSync(join(tmpdir(), 'payments-gateway-postgres-'));
  readonly #programs = findSystemPostgres() ?? '';
  readonly #runAs: RunAs | null;
  /** The superuser's, in every cluster. */
  readonly password = randomBytes(16).toString('hex');

  constructor() {
    chmodSync(this.folder, 0o711);
    this.#runAs = choosePostgresUser(this.#programs, this.folder);
    if (this.#runAs !== null) chownSync(this.folder, this.#runAs.uid, this.#runAs.gid);
  }

  /** A folder of PostgreSQL's user. */
  makeFolder(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { mode: 0o700 });
    this.#own(path);
    return path;
  }

  /** A file that only PostgreSQL's user can read. */
  writeFile(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    this.#own(path);
    return path;
  }

  /** Runs a command as PostgreSQL's user. @throws with its output when it fails */
  async run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const [file, words] = this.#command(program, args);
    return (await run(file, words, { ...this.#options(), env: environment(env) })).stdout;
  }

  spawn(args: string[], env: Record<string, string>, logFile: string): ServerProcess {
    const [file, words] = this.#command(join(this.#programs, 'postgres'), args);
    return spawnServer(file, words, { ...this.#options(), env: environment(env), logFile });
  }

  async createCluster(name: string): Promise<Cluster> {
    const passwordFile = this.writeFile(`${name}.password`, this.password);
    const cluster = new Cluster(this, name, await findFreePort());
    await this.run(join(this.#programs, 'initdb'), [
      ...[`--pgdata=${cluster.dataDir}`, '--username=postgres', `--pwfile=${passwordFile}`],
      ...['--auth-local=trust', '--auth-host=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    ]);
    return cluster;
  }

  /** An empty folder, for what is restored into it. */
  async prepareCluster(name: string): Promise<Cluster> {
    this.makeFolder(name);
    return new Cluster(this, name, await findFreePort());
  }

  /** A standby of a running cluster, which follows it once it is started. */
  async createStandby(primary: Cluster, name: string): Promise<Cluster> {
    const standby = new Cluster(this, name, await findFreePort());
    await this.run(join(this.#programs, 'pg_basebackup'), [
      ...['--host', this.folder, '--port', String(primary.port), '--username', 'postgres'],
      ...['--pgdata', standby.dataDir, '--checkpoint=fast', '--wal-method=stream'],
      ...['--write-recovery-conf', '--create-slot', '--slot', name],
    ]);
    return standby;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #own(path: string): void {
    if (this.#runAs !== null) chownSync(path, this.#runAs.uid, this.#runAs.gid);
  }

  #command(program: string, args: string[]): [string, string[]] {
    const [first = program, ...rest] = [...(this.#runAs?.prefix ?? []), program, ...args];
    return [first, rest];
  }

  #options(): { cwd: string; uid?: number; gid?: number } {
    const runAs = this.#runAs;
    // With a prefix it is setpriv, still as root, that changes the user.
    if (runAs === null || runAs.prefix.length > 0) return { cwd: '/' };
    return { cwd: '/', uid: runAs.uid, gid: runAs.gid };
  }
}

export class Cluster {
  readonly dataDir: string;
  /** Connects the superuser to the database `postgres`. */
  readonly superuserUrl: string;
  #server: ServerProcess | null = null;

  constructor(
    readonly host: PostgresHost,
    readonly name: string,
    readonly port: number,
  ) {
    this.dataDir = join(host.folder, name);
    this.superuserUrl = `postgres://postgres:${host.password}@127.0.0.1:${port}/postgres`;
  }

  /** After a restore: it has replayed the WAL up to the time, and takes writes. */
  async whenRestored(): Promise<void> {
    await waitThroughFaults('the end of the recovery', async () => {
      const [row] = await this.query<{ ends: boolean }>('SELECT NOT pg_is_in_recovery() AS ends');
      return row?.ends === true;
    });
  }

  /** Resolves when it answers; a standby or a restored cluster may still be recovering. */
  async start(
    settings: Record<string, string> = {},
    env: Record<string, string> = {},
  ): Promise<void> {
    const all = { ...SETTINGS, unix_socket_directories: this.host.folder, ...settings };
    const args = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const log = join(this.host.folder, `${this.name}.log`);
    const server = this.host.spawn(
      ['-D', this.dataDir, '-p', String(this.port), '-c', `cluster_name=${this.name}`, ...args],
      env,
      log,
    );
    this.#server = server;
    const outcome = await waitThroughFaults(
      `PostgreSQL to answer, see ${log}`,
      async () => {
        if (server.hasEnded()) return 'ended';
        await this.query('SELECT 1');
        return 'answers';
      },
      START_TIMEOUT_MS,
    );
    if (outcome === 'ended') throw new Error(`PostgreSQL did not start:\n${server.output()}`);
  }

  /** SIGKILL, and resolves when it and its children are gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Runs statements as the superuser. @returns the rows of the last one */
  async query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return withClient(this.superuserUrl, async (client) => {
      return (await client.query<Row>(sql, values)).rows;
    });
  }

  /** Its disk is gone: an empty folder takes its place. The earlier one is kept to look at. */
  loseData(): void {
    renameSync(this.dataDir, `${this.dataDir}.lost`);
    this.host.makeFolder(this.name);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null || server.hasEnded()) return;
    await stopProcess(server.pid, { signal, graceMs: STOP_GRACE_MS });
    // Its children notice that it is gone.
    await waitThroughFaults('PostgreSQL to be gone', async () => {
      const reached = await this.query('SELECT 1').catch(() => null);
      return reached === null;
    });
  }
}

function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC', ...env };
}
