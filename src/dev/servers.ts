/**
 * The two servers behind the gateway in development, PostgreSQL and Temporal: local ones or those
 * that the environment names.
 */
import { Connection } from '@temporalio/client';
import { ensureDatabase, withClient } from '../db/provision';
import type { DataLayout } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';
import { registerSearchAttributes } from '../temporal/search-attributes';
import { startLocalPostgres } from './local-postgres';
import { startLocalTemporal, waitForTemporal } from './local-temporal';
import type { PortName, Ports } from './ports';
import type { LogLine } from './progress';
import { findInstalledTemporalCli } from './temporal-cli';

export const TEMPORAL_NAMESPACE = 'default';

const DATABASE_NAME = 'gateway';
const EXTERNAL_TEMPORAL_TIMEOUT_MS = 10_000;

/** `Port`: the ports that a server needs. */
export interface ServerContext<Port extends PortName> {
  layout: DataLayout;
  ports: Pick<Ports, Port>;
  log: LogLine;
  /** Called with each server's process at once, before it answers. */
  onSpawn: (name: string, pid: number, command: string) => void;
}

export interface Temporal {
  address: string;
  uiUrl: string | null;
  /** The CLI for operators, if one is installed. */
  cliPath: string | null;
}

/**
 * @param givenOwnerUrl a running PostgreSQL's database to use, or null for a local one
 * @returns the connection of the role that owns the gateway's schema
 */
export async function startPostgres(
  { layout, ports, log, onSpawn }: ServerContext<'postgres'>,
  givenOwnerUrl: string | null,
): Promise<string> {
  if (givenOwnerUrl !== null) {
    log('using the PostgreSQL of DATABASE_OWNER_URL');
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
  log(`PostgreSQL is ready on 127.0.0.1:${ports.postgres}`);
  return ensureDatabase(server.superuserUrl, DATABASE_NAME);
}

/** @param givenAddress a running cluster's host:port to use, or null for a local server */
export async function startTemporal(
  { layout, ports, log, onSpawn }: ServerContext<'temporal' | 'temporalUi'>,
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
  log(`Temporal is ready on ${server.address}`);
  // The attributes on the command line apply to a new database only, and an upgrade may need more.
  await addSearchAttributes(server.address);
  return server;
}

async function checkDatabase(ownerUrl: string): Promise<void> {
  try {
    await withClient(ownerUrl, (client) => client.query('select 1'));
  } catch (error) {
    throw new SetupError(
      'The database of DATABASE_OWNER_URL does not answer: ' +
        `${error instanceof Error ? error.message : 'unknown'}.`,
      { cause: error },
    );
  }
}

async function joinCluster(address: string, log: LogLine): Promise<Temporal> {
  log(`using the Temporal cluster at ${address} (TEMPORAL_ADDRESS)`);
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
