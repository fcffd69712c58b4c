/**
 * The connection pool. Nobody waits for a second connection while holding one, so the pool can never wait for
 * itself. A network that goes silent is noticed by statements without an answer (see silence.ts).
 * numeric and bigint arrive as text (pg's default), timestamps as Date.
 */
import knex, { type Knex } from 'knex';
import { readSetting } from '../lib/read-settings';
import { detectPooler, type DriverClient, PipelinedClient } from './pipelined-client';
import { ANSWER_GRACE_MS, Silence, watch } from './silence';

export const STATEMENT_TIMEOUT_MS = readSetting('DATABASE_STATEMENT_TIMEOUT_MS', {});
export const CONNECT_TIMEOUT_MS = 5_000;

/** A statement that runs for long without a timeout, such as a migration's. */
const KEEPALIVE_MS = 30_000;

export interface PoolOptions {
  url: string;
  /** Connections; every process has its own pool. */
  size: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** 0: none. */
  statementTimeoutMs?: number;
  /** So much later, a statement without an answer is given up. */
  answerGraceMs?: number;
  /** None by default: a request waits until its statement times out. */
  lockTimeoutMs?: number;
}

export function connect({
  url,
  size,
  applicationName,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  answerGraceMs = ANSWER_GRACE_MS,
  lockTimeoutMs = 0,
}: PoolOptions): Knex {
  // Of the driver; knex's own type lacks some.
  const connection = {
    connectionString: url,
    application_name: applicationName,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: 15_000,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + answerGraceMs }),
  };
  const silence = new Silence();
  return knex({
    client: PipelinedClient,
    connection,
    pool: {
      min: 0,
      max: size,
      afterCreate: (created: DriverClient, done: (error: unknown) => void) => {
        watch(created, silence);
        detectPooler(created).then(() => {
          done(null);
        }, done);
      },
      validate: (idle: object) => silence.keeps(idle),
    },
    acquireConnectionTimeout: 10_000,
    // knex writes to stdout what it throws as well; the one who catches it logs it.
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
  });
}

function quiet(): void {
  return;
}
