/**
 * Where `npm start` keeps things: the data folder and the files in it.
 */
import { join, resolve } from 'node:path';

/** The project's folder. */
export const ROOT = resolve(__dirname, '..', '..');

export interface DataLayout {
  folder: string;
  lock: string;
  runRecord: string;
  secrets: string;
  /** What scripts and people read: addresses, logins, keys. */
  settings: string;
  postgres: string;
  temporalDb: string;
  sandbox: string;
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
    logs,
    logOf: (part) => join(logs, `${part}.log`),
  };
}
