/**
 * The HTTP interface on a real socket and a real database, without Temporal and providers: for
 * what is answered before either is asked.
 */
import { Writable } from 'node:stream';
import pino from 'pino';
import { type ApiConfig, readApiConfig } from '../../src/shell/config';
import { connect } from '../../src/db/connect';
import { withClient } from '../../src/db/provision';
import type { Db } from '../../src/db/transaction';
import type { Mode } from '../../src/domain/mode';
import { SCOPES, type Scope } from '../../src/domain/scopes';
import { buildDeps, buildPages, buildServices, type Deps } from '../../src/shell/deps';
import { createApp } from '../../src/shell/api/app';
import { measureRequests } from '../../src/shell/api/metrics';
import { createPrivateApp } from '../../src/shell/api/health-api';
import { startServer } from '../../src/shell/api/server';
import { hashApiKey, makeApiKey } from '../../src/platform/lib/api-key-secret';
import { scrape } from '../../src/platform/lib/metrics';
import { newId } from '../../src/platform/lib/new-id';
import { type TestDatabase, createTestDatabase } from '../support/servers/database';

export const PUBLIC_URL = 'https://pay.example.com';
export const PEPPER = 'the pepper of the tests: long enough';

/** Nothing listens there. */
const NO_TEMPORAL = '127.0.0.1:1';

export interface Gateway {
  url: string;
  port: number;
  /** The URL of the metrics and the details of readiness. */
  privateUrl: string;
  /** The lines that were logged, parsed. */
  log: Record<string, unknown>[];
  stop(): Promise<void>;
}

export interface GatewayOptions {
  trustedProxyHops?: number;
  isDevelopment?: boolean;
  env?: Record<string, string>;
  /** Its parts that are others than in production. */
  replace?: (deps: Deps<ApiConfig>) => Partial<Deps<ApiConfig>>;
}

export interface Harness {
  database: TestDatabase;
  /** The database with the login of the schema's owner, for what a test prepares. */
  owner: Db;
  /** The database with the login of the gateway's role. */
  db: Db;
  startGateway(options?: GatewayOptions): Promise<Gateway>;
  createAccount(): Promise<string>;
  createKey(options?: KeyOptions): Promise<{ id: string; secret: string; accountId: string }>;
  /** From here on PostgreSQL is not there for the gateways. */
  cutDatabase(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeyOptions {
  accountId?: string;
  mode?: Mode;
  scopes?: readonly Scope[];
  allowlist?: string[];
  requestsPerMinute?: number;
  /** A PostgreSQL interval from now: '-1 second' is an expired key. */
  expiresIn?: string;
}

/** @param given dropped with everything else; by default a new one */
export async function startHarness(given?: TestDatabase): Promise<Harness> {
  const database = given ?? (await createTestDatabase());
  const owner = connect({ url: database.ownerUrl, size: 2, applicationName: 'test' });
  const db = connect({ url: database.appUrl, size: 4, applicationName: 'test-gateway' });
  const gateways: Gateway[] = [];

  const createAccount = async () => {
    const id = newId('account');
    await owner.query('INSERT INTO accounts (id, name) VALUES (?, ?)', [id, 'Tested merchant']);
    return id;
  };

  return {
    database,
    owner,
    db,
    createAccount,
    startGateway: async (options) => {
      const env = { DASHBOARD_DATABASE_URL: database.dashboardUrl, ...options?.env };
      const settings = { trustedProxyHops: 0, ...options, env };
      const gateway = await startGateway(database.apiUrl, settings);
      gateways.push(gateway);
      return gateway;
    },
    createKey: async (options = {}) => {
      const accountId = options.accountId ?? (await createAccount());
      return { ...(await insertKey(owner, accountId, options)), accountId };
    },
    cutDatabase: () => cutOff(database),
    stop: async () => {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await Promise.all([owner.destroy(), db.destroy()]);
      await database.drop();
    },
  };
}

async function insertKey(owner: Db, accountId: string, options: KeyOptions) {
  const id = newId('apiKey');
  const mode = options.mode ?? 'test';
  const { secret, displayPrefix, lastFour } = makeApiKey(mode);
  await owner.query(
    `INSERT INTO api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four,
                           scopes, allowlist, requests_per_minute, expires_at)
     VALUES (?, ?, ?, 'tested key', ?, ?, ?, ?::text[], ?::cidr[], ?, now() + ?::interval)`,
    [
      id,
      accountId,
      mode,
      hashApiKey(secret, PEPPER),
      displayPrefix,
      lastFour,
      `{${(options.scopes ?? SCOPES).join(',')}}`,
      `{${(options.allowlist ?? []).join(',')}}`,
      options.requestsPerMinute ?? 1200,
      options.expiresIn ?? null,
    ],
  );
  return { id, secret };
}

async function startGateway(
  databaseUrl: string,
  { env, replace, ...options }: { trustedProxyHops: number } & GatewayOptions,
): Promise<Gateway> {
  const log: Record<string, unknown>[] = [];
  const lines = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const config = readApiConfig({
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '4',
    TEMPORAL_ADDRESS: NO_TEMPORAL,
    PUBLIC_URL,
    KEY_PEPPER: PEPPER,
    CURSOR_SECRET: 'the cursor secret of the tests, long enough',
    WEBHOOK_SECRET_KEY: 'the webhook secret key of the tests, long enough',
    ...env,
  });
  const logger = pino(lines);
  const built = buildDeps(config, 'test', logger);
  const deps = { ...built, ...replace?.(built) };
  const services = buildServices(deps);
  const { publicUrl, cursorSecret, earlierCursorSecrets, evidenceKey, earlierPublicKeys } = config;
  const { registry } = deps;
  const measure = measureRequests(registry, services.requestLog);
  const readMetrics = () => scrape(registry, null);
  const pages = buildPages(deps, services);
  const app = createApp({
    services,
    publicUrl,
    cursorSecret,
    earlierCursorSecrets,
    evidenceKey,
    earlierPublicKeys,
    measure,
    pages,
    logger,
    ...options,
  });
  const server = await startServer(app, 0);
  const privateServer = await startServer(
    createPrivateApp(services.health, readMetrics, logger),
    0,
  );
  let ended: Promise<void> | null = null;
  const end = async () => {
    services.events.stopWaiting();
    await Promise.all([server.stop(), privateServer.stop()]);
    await services.requestLog.stop();
    await deps.close();
  };
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    privateUrl: `http://127.0.0.1:${privateServer.port}`,
    log,
    stop: () => (ended ??= end()),
  };
}

async function cutOff({ ownerUrl }: TestDatabase): Promise<void> {
  const name = new URL(ownerUrl).pathname.slice(1);
  await withClient(process.env['TEST_POSTGRES_URL'] ?? '', async (client) => {
    await client.query(`ALTER DATABASE ${client.escapeIdentifier(name)} ALLOW_CONNECTIONS false`);
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = $1 AND application_name LIKE 'gateway-%'`,
      [name],
    );
  });
}

export function bearer(secret: string): Record<string, string> {
  return { Authorization: `Bearer ${secret}` };
}

export interface ErrorBody {
  error: {
    code: string;
    message: string;
    details?: Record<string, unknown>;
    request_id: string;
  };
}

export async function errorOf(response: Response): Promise<ErrorBody['error']> {
  const body = (await response.json()) as ErrorBody;
  return body.error;
}
