/** A real PgBouncer before the test server, as docs/operations.md says to set it up. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../src/dev/ports';
import { findOnPath, isExecutable } from '../../../src/dev/processes';
import { API_LOGIN, DASHBOARD_LOGIN, WORKER_LOGIN } from './database';
import { waitThroughFaults } from '../wait-for';

/** The user "nobody" of every Unix. */
const NOBODY = 65_534;

export interface PgBouncer {
  port: number;
  /** Although nobody has stopped it. */
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** The program's path, or null when it is not installed. */
export function findPgBouncer(): string | null {
  // Debian installs it for administrators.
  const outsideOfPath = '/usr/sbin/pgbouncer';
  return findOnPath('pgbouncer') ?? (isExecutable(outsideOfPath) ? outsideOfPath : null);
}

/** @param poolSize server connections for each login */
export async function startPgBouncer(server: URL, poolSize: number): Promise<PgBouncer> {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  chmodSync(folder, 0o755);
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
server_login_retry = 1
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout
`,
  );
  const users = [API_LOGIN, WORKER_LOGIN, DASHBOARD_LOGIN].map(
    (login) => `"${login.user}" "${login.password}"\n`,
  );
  writeFileSync(join(folder, 'users.txt'), users.join(''));
  const isRoot = process.getuid?.() === 0;
  const child = spawn(findPgBouncer() ?? '', [settings], {
    // It refuses to run as root.
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await waitThroughFaults(`PgBouncer to listen\n${said}`, () => isListening(port), 10_000);
  return {
    port,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: async () => {
      const ended = once(child, 'exit');
      if (child.kill('SIGINT')) await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function isListening(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(undefined));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
