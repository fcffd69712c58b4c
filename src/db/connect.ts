/**
 * The connection pool. Nobody waits for a second connection while holding one, so the pool can never wait for
 * itself.
 * numeric and bigint arrive as text (pg's default), timestamps as Date.
 */
import knex, { type Knex } from 'knex';
import { detectPooler, type DriverClient, PipelinedClient } from './pipelined-client';

export interface PoolOptions {
  url: string;
  /** Connections; every process has its own pool. */
  size: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** 0: none. */
  statementTimeoutMs?: number;
  /** None by default: a request waits until its statement times out. */
  lockTimeoutMs?: number;
}

export function connect({
  url,
  size,
  applicationName,
  statementTimeoutMs = 15_000,
  lockTimeoutMs = 0,
}: PoolOptions): Knex {
  // Of the driver; knex's own type lacks some.
  const connection = {
    connectionString: url,
    application_name: applicationName,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: 15_000,
    connectionTimeoutMillis: 5_000,
  };
  return knex({
    client: PipelinedClient,
    connection,
    pool: {
      min: 0,
      max: size,
      afterCreate: (created: DriverClient, done: (error: unknown) => void) => {
        detectPooler(created).then(() => {
          done(null);
        }, done);
      },
    },
    acquireConnectionTimeout: 10_000,
    // knex writes to stdout what it throws as well; the one who catches it logs it.
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
  });
}

function quiet(): void {
  return;
}
