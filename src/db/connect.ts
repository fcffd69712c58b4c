import { readSetting } from '../platform/settings/read-settings';
import type { DatabaseOptions } from '../platform/postgres/connection';
import { Database } from '../platform/postgres/database';
import { fieldOf } from './column-names';

const STATEMENT_TIMEOUT_MS = readSetting('DATABASE_STATEMENT_TIMEOUT_MS', {});

export type GatewayOptions = Omit<DatabaseOptions, 'statementTimeoutMs' | 'fieldOf'> & {
  statementTimeoutMs?: number;
};

/** The gateway's database: columns in camel case. */
export function connect(options: GatewayOptions): Database {
  return new Database(gatewayOptions(options));
}

export function gatewayOptions(options: GatewayOptions): DatabaseOptions {
  return { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...options, fieldOf };
}
