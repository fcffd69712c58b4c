/**
 * The two servers behind the gateway in development: PostgreSQL and Temporal, our own local ones
 * or those that the environment names.
 */
import { Connection } from '@temporalio/client';
import { startLocalPostgres } from '../db/local-postgres';
import { ensureDatabase, withClient } from '../db/provision';
import type { LogLine } from '../lib/log-line';
import { startLocalTemporal, waitForTemporal } from '../temporal/local-server';
import { registerSearchAttributes } from '../temporal/search-attributes';
import { findInstalledTemporalCli } from '../temporal/temporal-cli';
import type { DataLayout } from './layout';
import type { Ports } from './ports';
import { SetupError } from '../lib/setup-error';

export const TEMPORAL_NAMESPACE = 'default';

const DATABASE_NAME = 'gateway';
const EXTERNAL_TEMPORAL_TIMEOUT_MS = 10_000;

export interface ServerContext {
  layout: DataLayout;
  ports: Ports;
  log: LogLine;
  /** Told each server's process at once, before it answers. */
  onSpawn: (name: string, pid: number, command: string) => void;
}

export interface Temporal {
  address: string;
  uiUrl: string | null;
  /** The CLI for operators, where one is known. */
  cliPath: string | null;
}

/**
 * @param givenOwnerUrl a running PostgreSQL's database to use, or null for a local one
 * @returns what connects the role that owns the schema to the gateway's database
 */
export async function startPostgres(
  { layout, ports, log, onSpawn }: ServerContext,
  givenOwnerUrl: string | null,
): Promise<string> {
  if (givenOwnerUrl !== null) {
    log('PostgreSQL: the one that DATABASE_OWNER_URL names');
    await checkDatabase(givenOwnerUrl);
    return givenOwnerUrl;
  }
  const server = await startLocalPostgres({
    dataDir: layout.postgres,
    port: ports.postgres,
    logFile: layout.logOf('postgres'),
    log,
    onSpawn: (pid) => {
      onSpawn('PostgreSQL', pid, 'postgres');
    },
  });
  log(`PostgreSQL answers on 127.0.0.1:${ports.postgres}`);
  return ensureDatabase(server.superuserUrl, DATABASE_NAME);
}

/** @param givenAddress a running cluster's host:port to use, or null for a local server */
export async function startTemporal(
  { layout, ports, log, onSpawn }: ServerContext,
  givenAddress: string | null,
): Promise<Temporal> {
  if (givenAddress !== null) return joinCluster(givenAddress, log);
  const server = await startLocalTemporal({
    dbFile: layout.temporalDb,
    port: ports.temporal,
    uiPort: ports.temporalUi,
    logFile: layout.logOf('temporal'),
    log,
    onSpawn: (pid) => {
      onSpawn('Temporal', pid, 'start-dev');
    },
  });
  log(`Temporal answers on ${server.address}`);
  // Those on the command line reach only a new database; an upgrade may bring more.
  await addSearchAttributes(server.address);
  return server;
}

async function checkDatabase(ownerUrl: string): Promise<void> {
  try {
    await withClient(ownerUrl, (client) => client.query('select 1'));
  } catch (error) {
    throw new SetupError(
      'The database that DATABASE_OWNER_URL names does not answer: ' +
        `${error instanceof Error ? error.message : 'unknown'}.`,
      { cause: error },
    );
  }
}

async function joinCluster(address: string, log: LogLine): Promise<Temporal> {
  log(`Temporal: the cluster at ${address} that TEMPORAL_ADDRESS names`);
  try {
    await waitForTemporal(address, TEMPORAL_NAMESPACE, EXTERNAL_TEMPORAL_TIMEOUT_MS);
  } catch (error) {
    throw new SetupError(
      `The Temporal cluster at ${address} (TEMPORAL_ADDRESS) does not answer for the namespace ` +
        `${TEMPORAL_NAMESPACE}: ${error instanceof Error ? error.message : 'unknown'}.`,
      { cause: error },
    );
  }
  await addSearchAttributes(address);
  const cli = await findInstalledTemporalCli(() => undefined);
  return { address, uiUrl: null, cliPath: cli?.path ?? null };
}

async function addSearchAttributes(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    await registerSearchAttributes(connection, TEMPORAL_NAMESPACE);
  } finally {
    await connection.close();
  }
}
