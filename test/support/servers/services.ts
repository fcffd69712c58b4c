/**
 * The servers behind the tests, in a process of their own: one PostgreSQL and one Temporal
 * server, both throwaway, the migrated template database, the workflow bundle, and the gateway that
 * test files share.
 *
 * start-services.ts starts it and gets the TEST_… variables from it. It lives as long as the
 * channel to jest is open, so a jest that was killed leaves nothing behind either.
 *
 * Arguments, of which `temporal` includes `programs`: see `TestService`.
 */
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '../../../src/dev/local-postgres';
import { findFreePort } from '../../../src/dev/ports';
import { startLocalTemporal } from '../../../src/dev/local-temporal';
import { findInstalledTemporalCli } from '../../../src/dev/temporal-cli';
import { createTemplate } from './database';
import type { OwnGateway, SharedGateway } from './gateway';

/**
 * `durable-postgres` in place of `postgres` waits for the disk, as in production; `programs` are the
 * compiled programs of src/bin.
 */
export type TestService = 'postgres' | 'durable-postgres' | 'temporal' | 'programs';
type TestEnvironment = Record<string, string>;
export type ServicesMessage = { ready: TestEnvironment } | { failed: string };

/** A copy of a database takes 20 ms in memory, and up to 500 ms on a disk. */
const MEMORY = '/dev/shm';
const MEMORY_NEEDED_BYTES = 4 * 2 ** 30;
const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-test-'));
const stops: (() => Promise<void>)[] = [];

async function startServices(wanted: TestService[]): Promise<TestEnvironment> {
  // PostgreSQL runs as another user when we are root, and has to pass through.
  chmodSync(folder, 0o711);
  // All settle before any failure is told: what came up has to be known to be stopped.
  const parts = await Promise.allSettled([
    wanted.includes('postgres') ? startPostgres(false) : {},
    wanted.includes('durable-postgres') ? startPostgres(true) : {},
    wanted.includes('temporal') ? startTemporal() : {},
    wanted.includes('temporal') || wanted.includes('programs') ? compileProgramCode() : {},
  ]);
  const failure = parts.find((part) => part.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  const started = parts.map((part) => (part.status === 'fulfilled' ? part.value : {}));
  const environment = Object.assign({}, ...started) as TestEnvironment;
  // The shared gateway starts in this process, with these variables.
  Object.assign(process.env, environment);
  return wanted.includes('temporal')
    ? { ...environment, TEST_SHARED_GATEWAY_URL: await serveSharedGateway() }
    : environment;
}

let sharedGateway: Promise<OwnGateway> | null = null;

/** It starts when the first test file asks for it: many runs need none. */
async function serveSharedGateway(): Promise<string> {
  const server = createServer((_request, response) => {
    // Nobody asks twice, and a kept connection could end just when the next file asks.
    response.setHeader('connection', 'close');
    sharedGateway ??= import('./gateway.js').then(({ startGateway }) => startGateway());
    sharedGateway.then(
      ({ baseUrl, database, pepper, env, sandbox }) => {
        const { url, onchainUrl, exchangePayUrl } = sandbox;
        const urls = { url, onchainUrl, exchangePayUrl };
        const told: SharedGateway = { baseUrl, database, pepper, env, sandbox: urls };
        response.end(JSON.stringify(told));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.close();
    await (await sharedGateway)?.stop();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startPostgres(durable: boolean): Promise<TestEnvironment> {
  let url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) {
    const server = await startLocalPostgres({
      dataDir: join(durable ? folder : quickFolder(), 'postgres'),
      port: await findFreePort(),
      logFile: join(folder, 'postgres.log'),
      log: () => undefined,
      durable,
    });
    stops.push(server.stop);
    url = server.superuserUrl;
  }
  await createTemplate(url);
  return { TEST_POSTGRES_URL: url };
}

/** In memory where there is enough of it. PostgreSQL runs as another user when we are root. */
function quickFolder(): string {
  if (!existsSync(MEMORY)) return folder;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < MEMORY_NEEDED_BYTES) return folder;
  const quick = mkdtempSync(join(MEMORY, 'payments-gateway-test-'));
  chmodSync(quick, 0o711);
  stops.push(() => rm(quick, { recursive: true, force: true }));
  return quick;
}

async function startTemporal(): Promise<TestEnvironment> {
  const given = process.env['TEST_TEMPORAL_ADDRESS'];
  if (given !== undefined) {
    const cli = await findInstalledTemporalCli(() => undefined);
    return {
      TEST_TEMPORAL_ADDRESS: given,
      TEST_TEMPORAL_CLI: process.env['TEST_TEMPORAL_CLI'] ?? cli?.path ?? '',
    };
  }
  const server = await startLocalTemporal({
    dbFile: null,
    port: await findFreePort(),
    uiPort: null,
    logFile: join(folder, 'temporal.log'),
    log: (line) => process.stderr.write(`${line}\n`),
  });
  stops.push(server.stop);
  return { TEST_TEMPORAL_ADDRESS: server.address, TEST_TEMPORAL_CLI: server.cliPath };
}

async function compileProgramCode(): Promise<TestEnvironment> {
  const { bundleCompiledWorkflows, compileProject } = await import('../../../src/dev/compile.js');
  const compiled = await compileProject();
  const bundles = await bundleCompiledWorkflows();
  return {
    TEST_COMPILED_PROGRAMS: compiled,
    TEST_WORKFLOW_BUNDLE: bundles.WORKFLOW_BUNDLE,
    TEST_WALLET_WORKFLOW_BUNDLE: bundles.WALLET_WORKFLOW_BUNDLE,
  };
}

async function stopServices(): Promise<void> {
  // The shared gateway before the servers that it runs on.
  for (const stop of stops.reverse()) await stop().catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
}

function report(message: ServicesMessage): void {
  if (process.connected) process.send?.(message);
}

const starting = startServices(process.argv.slice(2) as TestService[]).then(
  (environment) => {
    report({ ready: environment });
  },
  (error: unknown) => {
    report({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  },
);

function shutDown(): void {
  void starting.then(stopServices).finally(() => process.exit(0));
}
process.once('disconnect', shutDown);
process.once('SIGTERM', shutDown);
