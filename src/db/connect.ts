/**
 * The connection pool. One request uses one connection, so the pool can never wait for itself.
 * numeric and bigint arrive as text (pg's default), timestamps as Date.
 */
import knex, { type Knex } from 'knex';

export interface PoolOptions {
  url: string;
  /** Connections; every process has its own pool. */
  size: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
}

export function connect({ url, size, applicationName }: PoolOptions): Knex {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: applicationName,
      statement_timeout: 15_000,
      idle_in_transaction_session_timeout: 15_000,
      connectionTimeoutMillis: 5_000,
    },
    pool: { min: 0, max: size },
    acquireConnectionTimeout: 10_000,
    // knex writes to stdout what it throws as well; the one who catches it logs it.
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
  });
}

function quiet(): void {
  return;
}
