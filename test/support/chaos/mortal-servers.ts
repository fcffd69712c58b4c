/**
 * A PostgreSQL and a Temporal server for one test file, which it may kill and start again on the
 * same data and ports. The gateways and databases that the file starts from then on use them.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '../../../src/dev/local-postgres';
import { findFreePort } from '../../../src/dev/ports';
import { identifyProcess, stopProcess } from '../../../src/dev/processes';
import { startLocalTemporal } from '../../../src/dev/local-temporal';
import { createTemplate } from '../servers/database';
import { createTurns } from '../wait-for';

const GONE_WITHIN_MS = 10_000;

interface RunningServer {
  pid: number;
  stop: () => Promise<void>;
}

export interface MortalServer {
  /** SIGKILL, and resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves when it answers again; does nothing while it runs. */
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

interface MortalOptions {
  /** PostgreSQL's data is on a file system in memory, if this user may mount one. */
  onSmallDisk?: boolean;
  /** Where the servers write their logs; by default they go with the data. */
  logFolder?: string | undefined;
}

export async function startMortalServers(options: MortalOptions = {}): Promise<MortalServers> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-mortal-'));
  // PostgreSQL runs as another user when we are root, and has to pass through.
  chmodSync(folder, 0o711);
  const disk = options.onSmallDisk === true ? mountSmallDisk(join(folder, 'disk')) : null;
  const log = () => undefined;
  const postgresPort = await findFreePort();
  // Durable: what was committed has to be there after a kill.
  const startPostgres = () =>
    startLocalPostgres({
      ...{ dataDir: join(disk?.folder ?? folder, 'postgres'), port: postgresPort },
      ...{ logFile: join(folder, 'postgres.log'), log },
    });
  const [first, temporal] = await Promise.all([
    startPostgres(),
    startMortalTemporal(folder, options.logFolder),
  ]);
  await createTemplate(first.superuserUrl);
  // The environment of a test file is its own.
  process.env['TEST_POSTGRES_URL'] = first.superuserUrl;
  const postgres = mortal(first, startPostgres);
  return {
    postgres,
    temporal,
    emptyTemporal: () => {
      temporal.empty();
    },
    disk,
    stop: async () => {
      await postgres.stop();
      await temporal.stop();
      disk?.unmount();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface MortalTemporal extends MortalServer {
  stop(): Promise<void>;
  /** While it does not run: it starts with nothing, as with a new database. */
  empty(): void;
  /** While it does not run: a copy of all that it knows. */
  save(): void;
  /** While it does not run: the copy takes the place of all that it knows. */
  putBack(): void;
}

/** A Temporal server of the test file's own, with its data in this folder. */
export async function startMortalTemporal(
  folder: string,
  logFolder = folder,
): Promise<MortalTemporal> {
  const port = await findFreePort();
  const [data, copy] = [join(folder, 'temporal'), join(folder, 'temporal-copy')];
  mkdirSync(data);
  const start = () =>
    startLocalTemporal({
      ...{ dbFile: join(data, 'temporal.db'), port, uiPort: null },
      ...{ logFile: join(logFolder, 'temporal.log'), log: () => undefined },
    });
  const first = await start();
  process.env['TEST_TEMPORAL_ADDRESS'] = first.address;
  const replace = (from: string, to: string): void => {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true });
  };
  return {
    ...mortal(first, start),
    empty: () => {
      for (const file of readdirSync(data)) rmSync(join(data, file));
    },
    save: () => {
      replace(data, copy);
    },
    putBack: () => {
      replace(copy, data);
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
  const turn = createTurns();
  return {
    kill: () =>
      turn(() => stopProcess(running.pid, { signal: 'SIGKILL', graceMs: GONE_WITHIN_MS })),
    start: () =>
      turn(async () => {
        if (identifyProcess(running.pid) === null) running = await start();
      }),
    stop: () => running.stop(),
  };
}
