/**
 * A PostgreSQL and a Temporal server for one test file, which it may kill and start again on the
 * same data and ports. The gateways and databases that the file starts from then on use them.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '../../src/dev/local-postgres';
import { findFreePort } from '../../src/dev/ports';
import { stopProcess } from '../../src/dev/processes';
import { startLocalTemporal } from '../../src/dev/local-temporal';
import { createTemplate } from './database';

const GONE_WITHIN_MS = 10_000;

interface RunningServer {
  pid: number;
  stop: () => Promise<void>;
}

export interface MortalServer {
  /** SIGKILL, and resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves when it answers again. */
  start(): Promise<void>;
}

export interface MortalServers {
  postgres: MortalServer;
  temporal: MortalServer;
  /** While it does not run: Temporal starts with nothing, as with a new database. */
  emptyTemporal(): void;
  stop(): Promise<void>;
}

export async function startMortalServers(): Promise<MortalServers> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-mortal-'));
  // PostgreSQL runs as another user when we are root, and has to pass through.
  chmodSync(folder, 0o711);
  const log = () => undefined;
  const [postgresPort, temporalPort] = [await findFreePort(), await findFreePort()];
  // Durable: what was committed has to be there after a kill.
  const startPostgres = () =>
    startLocalPostgres({
      ...{ dataDir: join(folder, 'postgres'), port: postgresPort },
      ...{ logFile: join(folder, 'postgres.log'), log },
    });
  const temporalFolder = join(folder, 'temporal');
  mkdirSync(temporalFolder);
  const startTemporal = () =>
    startLocalTemporal({
      ...{ dbFile: join(temporalFolder, 'temporal.db'), port: temporalPort, uiPort: null },
      ...{ logFile: join(folder, 'temporal.log'), log },
    });
  const [postgres, temporal] = await Promise.all([startPostgres(), startTemporal()]);
  await createTemplate(postgres.superuserUrl);
  // The environment of a test file is its own.
  process.env['TEST_POSTGRES_URL'] = postgres.superuserUrl;
  process.env['TEST_TEMPORAL_ADDRESS'] = temporal.address;
  const servers = [mortal(postgres, startPostgres), mortal(temporal, startTemporal)] as const;
  return {
    postgres: servers[0],
    temporal: servers[1],
    emptyTemporal: () => {
      for (const file of readdirSync(temporalFolder)) rmSync(join(temporalFolder, file));
    },
    stop: async () => {
      for (const server of servers) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function mortal(
  first: RunningServer,
  start: () => Promise<RunningServer>,
): MortalServer & { stop(): Promise<void> } {
  let running = first;
  return {
    kill: async () => {
      await stopProcess(running.pid, { signal: 'SIGKILL', graceMs: GONE_WITHIN_MS });
    },
    start: async () => {
      running = await start();
    },
    stop: () => running.stop(),
  };
}
