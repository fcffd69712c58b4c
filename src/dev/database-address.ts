/**
 * Where the development database of this checkout is, for the programs that work on it. `npm
 * start` writes the address into .gateway/dev.json.
 */
import { SetupError } from '../lib/setup-error';
import { dataLayout } from './layout';
import { readPrivateJson } from './private-file';

/**
 * The connection of the role that owns the schema.
 * @param orElse what else the caller's program accepts, for the sentence: `set DATABASE_URL`
 * @throws SetupError when `npm start` has not run here yet, or its file is damaged
 */
export function developmentDatabaseUrl(env: NodeJS.ProcessEnv, orElse?: string): string {
  const { settings } = dataLayout(env);
  const { postgres_url: url } = readPrivateJson(settings);
  if (typeof url === 'string' && url !== '') return url;
  const other = orElse === undefined ? '' : `, or ${orElse}`;
  throw new SetupError(`There is no database address in ${settings}: run \`npm start\`${other}.`);
}
