/** The wallet's migrations in the order in which they are applied. They only go forward. */
import { TRANSFERS } from './0001-transfers';

export interface Migration {
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [{ name: '0001-transfers', sql: TRANSFERS }];
