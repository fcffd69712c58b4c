/**
 * The data folder of a development installation (.gateway): the files in it, and how to read and
 * write those that are private. `npm start` writes it; the commands that work on a running
 * installation read its addresses and secrets.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError } from './setup-error';

/** The project's folder. */
export const ROOT = resolve(__dirname, '../../..');

export interface DataLayout {
  folder: string;
  lock: string;
  runRecord: string;
  secrets: string;
  /** The file that scripts and people read: addresses, logins, keys. */
  settings: string;
  postgres: string;
  temporalDb: string;
  sandbox: string;
  chain: string;
  logs: string;
  logOf: (part: string) => string;
}

/** GATEWAY_DATA_DIR moves the data folder, so that one checkout can hold several installations. */
export function dataLayout(env: NodeJS.ProcessEnv): DataLayout {
  const asked = env['GATEWAY_DATA_DIR'] ?? '';
  const folder = resolve(ROOT, asked === '' ? '.gateway' : asked);
  const logs = join(folder, 'logs');
  return {
    folder,
    lock: join(folder, 'lock'),
    runRecord: join(folder, 'run.json'),
    secrets: join(folder, 'secrets.json'),
    settings: join(folder, 'dev.json'),
    postgres: join(folder, 'postgres'),
    temporalDb: join(folder, 'temporal.db'),
    sandbox: join(folder, 'sandbox'),
    chain: join(folder, 'chain'),
    logs,
    logOf: (part) => join(logs, `${part}.log`),
  };
}

/**
 * The connection of the role that owns the development database's schema.
 * @param alternative what else the calling program accepts, for the error: `set DATABASE_URL`
 * @throws SetupError when `npm start` has not run yet, or its file is damaged
 */
export function developmentDatabaseUrl(env: NodeJS.ProcessEnv, alternative?: string): string {
  const { settings } = dataLayout(env);
  const { postgres_url: url } = readPrivateJson(settings);
  if (typeof url === 'string' && url !== '') return url;
  const other = alternative === undefined ? '' : `, or ${alternative}`;
  throw new SetupError(`${settings} contains no database address: run \`npm start\`${other}.`);
}

/** Replaces the file in one step, mode 0600; a crash leaves the old or the new file whole. */
export function writePrivateJson(path: string, value: unknown): void {
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/**
 * The file's object, or an empty one when the file does not exist.
 * @throws SetupError when the file is not a JSON object
 */
export function readPrivateJson(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new SetupError(
    `${path} is damaged: repair it, or run \`npm run reset\` to remove all local data.`,
  );
}
