/** pgBackRest with the files of deploy/backup, on a cluster and in folders of a test. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findOnPath } from '../../src/dev/processes';
import { type Cluster, findSystemPostgres, type PostgresHost } from './system-postgres';

const FILES = resolve(__dirname, '../../deploy/backup');
/** Of deploy/backup/pgbackrest.conf. */
const STANZA = 'gateway';

export const BACKUP_REMEDY =
  'Install PostgreSQL and pgBackRest, such as the Debian packages postgresql and pgbackrest.';

/** Null without PostgreSQL or pgBackRest. */
export function findPgBackRest(): string | null {
  return findSystemPostgres() === null ? null : findOnPath('pgbackrest');
}

export class Backups {
  /** What the user postgres has in /etc in production; PostgreSQL's archive_command needs it, too. */
  readonly env: Record<string, string>;
  readonly #host: PostgresHost;

  constructor(cluster: Cluster) {
    const { host } = cluster;
    this.#host = host;
    for (const name of ['conf.d', 'repository', 'logs', 'locks']) host.makeFolder(name);
    const key = randomBytes(48).toString('base64');
    host.writeFile('conf.d/repository-key.conf', `[global]\nrepo1-cipher-pass=${key}\n`);
    this.env = {
      PGBACKREST_CONFIG: host.writeFile('pgbackrest.conf', read('pgbackrest.conf')),
      PGBACKREST_CONFIG_INCLUDE_PATH: join(host.folder, 'conf.d'),
      PGBACKREST_REPO1_PATH: join(host.folder, 'repository'),
      PGBACKREST_LOG_PATH: join(host.folder, 'logs'),
      PGBACKREST_LOCK_PATH: join(host.folder, 'locks'),
      PGBACKREST_PG1_PATH: cluster.dataDir,
      PGBACKREST_PG1_PORT: String(cluster.port),
      PGBACKREST_PG1_SOCKET_PATH: host.folder,
      PGBACKREST_PG1_USER: 'postgres',
    };
    for (const script of ['backup.sh', 'restore.sh']) host.writeFile(script, read(script));
  }

  /** deploy/backup/postgresql.conf */
  get settings(): Record<string, string> {
    const lines = read('postgresql.conf').matchAll(/^(\w+) = '?(.+?)'?$/gm);
    return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  }

  async createStanza(): Promise<void> {
    await this.#host.run('pgbackrest', [`--stanza=${STANZA}`, 'stanza-create'], this.env);
  }

  /** @returns what it printed */
  backUp(type: 'full' | 'diff'): Promise<string> {
    return this.#script('backup.sh', type, STANZA);
  }

  /** Also waits until what was committed before is in the repository. */
  check(): Promise<string> {
    return this.#host.run('pgbackrest', [`--stanza=${STANZA}`, 'check'], this.env);
  }

  /**
   * @param time as an operator writes it
   * @param options of pgbackrest
   */
  restore(time: string, ...options: string[]): Promise<string> {
    return this.#script('restore.sh', STANZA, time, ...options);
  }

  #script(name: string, ...args: string[]): Promise<string> {
    return this.#host.run('bash', [join(this.#host.folder, name), ...args], this.env);
  }
}

function read(name: string): string {
  return readFileSync(join(FILES, name), 'utf8');
}
