/**
 * A PostgreSQL and a Temporal server for one test file, which it may kill and start again on the
 * same data and ports. The gateways and databases that the file starts from then on use them.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
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

/** A file system of PostgreSQL's own, which can be filled. */
export interface SmallDisk {
  fill(): void;
  free(): void;
}

export interface MortalServers {
  postgres: MortalServer;
  temporal: MortalServer;
  /** While it does not run: Temporal starts with nothing, as with a new database. */
  emptyTemporal(): void;
  /** Null: this user may not mount one, or nobody asked for it. */
  disk: SmallDisk | null;
  stop(): Promise<void>;
}

/** @param onSmallDisk PostgreSQL's data is on a file system in memory, if this user may mount one */
export async function startMortalServers({ onSmallDisk = false } = {}): Promise<MortalServers> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-mortal-'));
  // PostgreSQL runs as another user when we are root, and has to pass through.
  chmodSync(folder, 0o711);
  const disk = onSmallDisk ? mountSmallDisk(join(folder, 'disk')) : null;
  const log = () => undefined;
  const [postgresPort, temporalPort] = [await findFreePort(), await findFreePort()];
  // Durable: what was committed has to be there after a kill.
  const startPostgres = () =>
    startLocalPostgres({
      ...{ dataDir: join(disk?.folder ?? folder, 'postgres'), port: postgresPort },
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
    disk,
    stop: async () => {
      for (const server of servers) await server.stop();
      disk?.unmount();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Holds what a long run writes, and can be filled in a second. */
const DISK_SIZE = '1500m';

function mountSmallDisk(folder: string) {
  mkdirSync(folder, { mode: 0o711 });
  const options = ['-t', 'tmpfs', '-o', `size=${DISK_SIZE},mode=0711`, 'tmpfs', folder];
  if (spawnSync('mount', options).status !== 0) return null;
  const filling = join(folder, 'filling');
  return {
    folder,
    fill: () => {
      const { bavail, bsize } = statfsSync(folder);
      // The last pages may be taken at the same time.
      for (let bytes = bavail * bsize; bytes >= bsize; bytes = Math.floor(bytes / 2)) {
        try {
          writeFileSync(filling, Buffer.alloc(bytes), { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    free: () => {
      rmSync(filling, { force: true });
    },
    unmount: () => {
      spawnSync('umount', [folder]);
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
