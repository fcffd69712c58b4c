/**
 * A whole gateway for tests: a database, a Temporal namespace and a sandbox of its own, the API and
 * the worker as real processes. Most test files share one; the others start their own.
 */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import { verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { findFreePort } from '../../../src/dev/ports';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/rails/sandbox/server';
import { registerSearchAttributes } from '../../../src/temporal/search-attributes';
import { makeCredentials } from './sandbox';
import { ChildProgram } from './child-program';
import { createTestDatabase, type TestDatabase } from './database';
import { createMerchant, type Merchant } from '../merchant/merchant';

export interface GatewayOptions {
  sandbox?: Omit<Partial<SandboxOptions>, 'credentials'>;
  /** How long the gateway waits for a provider's answer. */
  providerTimeoutMs?: number;
  merchant?: Parameters<typeof createMerchant>[2];
  /** The port of a connection pooler on this machine, through which its processes connect. */
  databasePort?: number;
  /** The port of what stands between the workers and the database; that of the others unless it is given. */
  workerDatabasePort?: number;
  /** More settings of its processes. */
  env?: Record<string, string>;
  /** More settings of its worker. */
  workerEnv?: Record<string, string>;
  /** The sandbox is asked about the destinations of live payouts and recipients. */
  hasScreening?: boolean;
}

/** What a test does with a gateway without disturbing others that use it. */
export interface TestGateway {
  /** Ends in /api/v1. */
  baseUrl: string;
  sandbox: Pick<Sandbox, 'url' | 'onchainUrl' | 'exchangePayUrl'>;
  database: Pick<TestDatabase, 'ownerUrl' | 'appUrl' | 'adminUrl'>;
  /** With the owner's rights. */
  db: Db;
  temporal: Client;
  pepper: string;
  merchant: Merchant;
  /** The environment of its processes, to start more of them. */
  env: NodeJS.ProcessEnv;
  stop: () => Promise<void>;
}

/** A gateway of the test file's own: it may stop its parts and change what belongs to no account. */
export interface OwnGateway extends TestGateway {
  api: ChildProgram;
  worker: ChildProgram;
  sandbox: Sandbox;
  /** With the providers, to start another sandbox in its place. */
  credentials: ReturnType<typeof makeCredentials>;
}

/** What services.ts tells test files of the shared gateway. */
export type SharedGateway = Pick<
  TestGateway,
  'baseUrl' | 'sandbox' | 'database' | 'pepper' | 'env'
>;

/**
 * The gateway that the test files of a run share; the first that asks for it waits for its start.
 * For files that keep to accounts of their own: they change no setting of the sandbox, no provider's
 * outage and no row that belongs to no account, stop no process and count no rows but their own.
 */
export async function useSharedGateway(): Promise<TestGateway> {
  const response = await fetch(process.env['TEST_SHARED_GATEWAY_URL'] ?? '');
  if (!response.ok) throw new Error(`The shared gateway did not start: ${await response.text()}`);
  const shared = (await response.json()) as SharedGateway;
  const connection = await Connection.connect({ address: shared.env['TEMPORAL_ADDRESS'] ?? '' });
  const db = connect({ url: shared.database.ownerUrl, size: 4, applicationName: 'test' });
  return {
    ...shared,
    db,
    temporal: new Client({ connection, namespace: shared.env['TEMPORAL_NAMESPACE'] ?? '' }),
    merchant: await createMerchant(db, shared.pepper),
    stop: async () => {
      await Promise.all([connection.close(), db.destroy()]);
    },
  };
}

/** Longer than the slow answer of the sandbox. */
const SCREENING_TIMEOUT_MS = '3000';

/** Starts a gateway for a test file that cannot share one. */
export async function startGateway(options: GatewayOptions = {}): Promise<OwnGateway> {
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const credentials = makeCredentials();
  const screeningKey = randomBytes(24).toString('hex');
  const port = await findFreePort();
  const [database, connection, sandbox] = await Promise.all([
    createTestDatabase(),
    createNamespace(address, namespace),
    startSandbox({
      callbackBaseUrl: `http://127.0.0.1:${port}`,
      settleMs: 50,
      slowMs: 1_500,
      ...options.sandbox,
      credentials,
      screeningKey,
    }),
  ]);
  const db = connect({ url: database.ownerUrl, size: 4, applicationName: 'test' });
  const pepper = randomBytes(32).toString('hex');
  const merchant = await createMerchant(db, pepper, options.merchant);
  const env = {
    ...process.env,
    GATEWAY_ENV: 'test',
    LOG_LEVEL: 'info',
    PORT: String(port),
    DATABASE_URL: through(database.apiUrl, options.databasePort),
    DASHBOARD_DATABASE_URL: through(database.dashboardUrl, options.databasePort),
    // What ChildProgram gives a worker as its DATABASE_URL.
    TEST_WORKER_DATABASE_URL: through(
      database.workerUrl,
      options.workerDatabasePort ?? options.databasePort,
    ),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    WORKER_GRACE_MS: '1500',
    WORKFLOW_BUNDLE: process.env['TEST_WORKFLOW_BUNDLE'],
    KEY_PEPPER: pepper,
    CURSOR_SECRET: randomBytes(32).toString('hex'),
    EVIDENCE_SIGNING_KEY: randomBytes(32).toString('hex'),
    WEBHOOK_SECRET_KEY: randomBytes(32).toString('hex'),
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_LIVE_ALLOW_CIDRS: '127.0.0.0/8',
    ...providerEnvironment(sandbox, credentials, options.providerTimeoutMs ?? 3_000),
    ...(options.hasScreening === true
      ? {
          SCREENING_URL: sandbox.screeningUrl,
          SCREENING_API_KEY: screeningKey,
          SCREENING_TIMEOUT_MS: SCREENING_TIMEOUT_MS,
        }
      : {}),
    ...options.env,
  };
  const api = new ChildProgram('api', env);
  const worker = new ChildProgram('worker', { ...env, ...options.workerEnv });
  const stop = async (): Promise<void> => {
    await Promise.all([api.stop(), worker.stop()]);
    await sandbox.stop();
    await Promise.all([connection.close(), db.destroy()]);
    await database.drop();
  };
  try {
    await Promise.all([api.start(), worker.start()]);
  } catch (error) {
    // Nobody else would stop the rest, and jest would not end.
    await Promise.all([api.kill(), worker.kill()]);
    await stop();
    throw error;
  }
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    api,
    worker,
    sandbox,
    credentials,
    database,
    db,
    temporal: new Client({ connection, namespace }),
    pepper,
    merchant,
    env,
    stop,
  };
}

function through(databaseUrl: string, port: number | undefined): string {
  const url = new URL(databaseUrl);
  if (port !== undefined) url.port = String(port);
  return url.href;
}

export interface SecondApi {
  /** Ends in /api/v1. */
  baseUrl: string;
  stop: () => Promise<void>;
}

/**
 * One more API process of a gateway: same database, same Temporal namespace, perhaps other settings.
 * @param without settings that this process does not have, by the start of their name
 */
export async function startSecondApi(
  { env }: TestGateway,
  without: readonly string[] = [],
): Promise<SecondApi> {
  const port = await findFreePort();
  const kept = Object.entries(env).filter(([name]) => !without.some((one) => name.startsWith(one)));
  const api = new ChildProgram('api', { ...Object.fromEntries(kept), PORT: String(port) });
  await api.start();
  return { baseUrl: `http://127.0.0.1:${port}/api/v1`, stop: () => api.stop() };
}

/** The sentences of the invariants that do not hold; none in a sound ledger. */
export async function brokenInvariants(gateway: Pick<TestGateway, 'db'>): Promise<string[]> {
  const results = await verifyLedger(gateway.db);
  return results.filter((result) => result.broken > 0).map((result) => JSON.stringify(result));
}

/** What holds at the end of every test file with money. */
export async function isSound(gateway: Pick<TestGateway, 'db'>): Promise<void> {
  expect(await brokenInvariants(gateway)).toEqual([]);
}

export async function createNamespace(address: string, namespace: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await registerSearchAttributes(connection, namespace);
  return connection;
}

/** The settings of a gateway whose providers are the sandbox. */
export function providerEnvironment(
  sandbox: Sandbox,
  credentials: ReturnType<typeof makeCredentials>,
  timeoutMs: number,
): Record<string, string> {
  const providers = [
    { prefix: 'ONCHAIN', url: sandbox.onchainUrl, keys: credentials.onchain_provider },
    { prefix: 'EXCHANGE_PAY', url: sandbox.exchangePayUrl, keys: credentials.exchange_pay },
  ];
  return Object.fromEntries(
    providers.flatMap(({ prefix, url, keys }) =>
      (['test', 'live'] as const).flatMap((mode) => {
        const name = `${prefix}_${mode.toUpperCase()}`;
        return [
          [`${name}_URL`, url],
          [`${name}_API_KEY`, keys[mode]?.apiKey ?? ''],
          [`${name}_CALLBACK_SECRET`, keys[mode]?.callbackSecret ?? ''],
          [`${name}_TIMEOUT_MS`, String(timeoutMs)],
        ];
      }),
    ),
  );
}
