import type { DatabaseOptions } from './connection';
import { Database } from './database';

export function connect(options: DatabaseOptions): Database {
  return new Database(options);
}
