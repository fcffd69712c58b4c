/**
 * Reads the environment once and checks all of it: one message lists every invalid variable and what
 * to set. src/lib/settings.ts documents the variables.
 */
import { providerQueue, WORKER_QUEUES, type WorkerQueue } from '../workflows/names';
import { STATEMENT_TIMEOUT_MS } from './db/connect';
import { PROVIDER_CODES, type ProviderCode } from './domain/provider-codes';
import type { ProviderModeConfig } from './providers/port';
import { DEFAULT_TIMEOUT_MS } from './providers/provider-http';
import { PROVIDERS, type ProviderConfig } from './providers/registry';
import { MODES, type Mode } from './domain/mode';
import type { Peppers } from './lib/api-key-secret';
import { readLogLevel } from './lib/logger';
import { productionFaults } from './lib/production';
import { invalidEnvironment, SetupError } from './lib/setup-error';
import { listOf, readWebhookSettings, type WebhookSettings } from './lib/webhook-settings';
import { SCREENING_TIMEOUT_MS, type ScreeningConfig } from './screening/service';
import { readTemporal, type TemporalOptions } from './temporal/connection';
import type { ProviderQueue, WorkerDeployment } from './temporal/worker';
import { parseCidr } from './webhooks/address-policy';

/** The configuration of every process of the gateway. */
export interface Config {
  /** Whether GATEWAY_ENV is development, as with the servers of `npm start`. */
  isDevelopment: boolean;
  databaseUrl: string;
  /** Maximum number of PostgreSQL connections of this process. */
  databasePoolSize: number;
  /** PostgreSQL ends a statement after this time; without an answer, its connection is given up later. */
  databaseStatementTimeoutMs: number;
  /** The login of the dashboard and the console; null: they are not served. */
  pages: {
    databaseUrl: string;
    databasePoolSize: number;
    dashboardHost: string | null;
    consoleHost: string | null;
  } | null;
  /** `uiUrl` is where operators see workflows; null: the pages have no links to it. */
  temporal: TemporalOptions & { uiUrl: string | null };
  port: number;
  /** The address to listen on; undefined: all. */
  host: string | undefined;
  /** The time that a stopping API process still takes requests. */
  drainMs: number;
  /** The private port for metrics and readiness; null: not served. */
  metrics: { port: number | null; host: string };
  publicUrl: string;
  /**
   * The URL where operators open the console, such as https://ops.example.com/console; null: unknown.
   */
  consoleUrl: string | null;
  trustedProxyHops: number;
  providers: ProviderConfig;
  webhooks: WebhookSettings;
  /** The service that clears the destinations of live payouts; null: this process has none. */
  screening: ScreeningConfig | null;
  worker: {
    /** The task queues that this process takes. */
    queues: WorkerQueue[];
    providerQueues: ProviderQueue[];
    /**
     * The version of the workers in Temporal's worker deployments; null: workers have no versions.
     */
    deployment: WorkerDeployment | null;
    maxCachedWorkflows: number;
    shutdownGraceMs: number;
    workflowBundle: string | null;
  };
  logLevel: string;
  /**
   * Whether requests are parts of traces, whose header goes to Temporal, providers and webhooks.
   */
  followsTraces: boolean;
}

/** The configuration of the API. A worker answers no requests, and does not learn these secrets. */
export interface ApiConfig extends Config {
  peppers: Peppers;
  cursorSecret: string;
  /** Secrets that are accepted in cursors and not used for new ones. */
  earlierCursorSecrets: string[];
}

const SECRET_MIN_LENGTH = 32;
/**
 * An environment that is not set is like `test`: without what production refuses, and without what
 * development adds.
 */
const ENVIRONMENTS = ['production', 'development', 'test', ''];

/** @throws SetupError that lists everything missing or invalid */
export function readWorkerConfig(env: NodeJS.ProcessEnv): Config {
  return readChecked(env, (reader) => readConfig(reader, env));
}

/** @throws as above */
export function readApiConfig(env: NodeJS.ProcessEnv): ApiConfig {
  return readChecked(env, (reader) => ({
    ...readConfig(reader, env),
    peppers: {
      current: reader.secret('KEY_PEPPER'),
      next: reader.optionalSecret('KEY_PEPPER_NEXT'),
      earlier: reader.secrets('KEY_PEPPERS_EARLIER'),
    },
    cursorSecret: reader.secret('CURSOR_SECRET'),
    earlierCursorSecrets: reader.secrets('CURSOR_SECRETS_EARLIER'),
  }));
}

function readChecked<C extends Config>(
  env: NodeJS.ProcessEnv,
  read: (reader: EnvironmentReader) => C,
): C {
  const reader = new EnvironmentReader(env);
  const config = read(reader);
  reader.throwIfFaulty(productionFaults(env, { name: 'PUBLIC_URL', isRequired: true }));
  return config;
}

function readConfig(reader: EnvironmentReader, env: NodeJS.ProcessEnv): Config {
  const port = reader.count('PORT', 3000, 0, 65_535);
  return {
    isDevelopment: reader.oneOf('GATEWAY_ENV', ENVIRONMENTS, '') === 'development',
    databaseUrl: reader.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    databasePoolSize: reader.count('DATABASE_POOL_SIZE', 20, 1, 500),
    databaseStatementTimeoutMs: reader.count(
      'DATABASE_STATEMENT_TIMEOUT_MS',
      STATEMENT_TIMEOUT_MS,
      500,
      60_000,
    ),
    pages: readPages(reader),
    temporal: {
      ...reader.take({ address: '', namespace: '' }, () => readTemporal(env)),
      uiUrl: reader.optionalUrl('TEMPORAL_UI_URL', ['https:', 'http:']),
    },
    port,
    host: reader.optional('HOST'),
    drainMs: reader.count('API_DRAIN_MS', 0, 0, 60_000),
    metrics: {
      port:
        reader.optional('METRICS_PORT') === undefined
          ? null
          : reader.count('METRICS_PORT', 0, 0, 65_535),
      host: reader.optional('METRICS_HOST') ?? '127.0.0.1',
    },
    publicUrl: reader.optional('PUBLIC_URL')?.replace(/\/+$/, '') ?? `http://localhost:${port}`,
    consoleUrl: reader.optionalUrl('CONSOLE_URL', ['https:', 'http:']),
    trustedProxyHops: reader.count('TRUSTED_PROXY_HOPS', 0, 0, 10),
    providers: readProviders(reader),
    webhooks: readWebhooks(reader, env),
    screening: readScreening(reader),
    worker: {
      queues: reader.listOf('WORKER_QUEUES', WORKER_QUEUES),
      providerQueues: readProviderQueues(reader),
      deployment: readDeployment(reader),
      maxCachedWorkflows: reader.count('MAX_CACHED_WORKFLOWS', 300, 2, 100_000),
      shutdownGraceMs: reader.count('WORKER_GRACE_MS', 15_000, 0, 600_000),
      workflowBundle: reader.optional('WORKFLOW_BUNDLE') ?? null,
    },
    logLevel: reader.take('info', () => readLogLevel(env)),
    followsTraces: reader.oneOf('TRACE_CONTEXT', ['on', 'off'], 'off') === 'on',
  };
}

function readPages(reader: EnvironmentReader): Config['pages'] {
  const pages = {
    databasePoolSize: reader.count('DASHBOARD_DATABASE_POOL_SIZE', 10, 1, 500),
    // Browsers write the host in lower case.
    dashboardHost: reader.optional('DASHBOARD_HOST')?.toLowerCase() ?? null,
    consoleHost: reader.optional('CONSOLE_HOST')?.toLowerCase() ?? null,
  };
  if (reader.optional('DASHBOARD_DATABASE_URL') === undefined) return null;
  return {
    ...pages,
    databaseUrl: reader.url('DASHBOARD_DATABASE_URL', ['postgres:', 'postgresql:']),
  };
}

function readProviders(reader: EnvironmentReader): ProviderConfig {
  const read = (code: ProviderCode, mode: Mode): ProviderModeConfig | null => {
    const prefix = `${PROVIDERS[code].variablePrefix}_${mode.toUpperCase()}`;
    // Without a URL the provider is not used in this mode.
    if (reader.optional(`${prefix}_URL`) === undefined) return null;
    return {
      baseUrl: reader.url(`${prefix}_URL`, ['https:', 'http:']).replace(/\/+$/, ''),
      apiKey: reader.text(`${prefix}_API_KEY`, 'the API key at the provider'),
      callbackSecret: reader.text(
        `${prefix}_CALLBACK_SECRET`,
        'the secret that signs the provider’s callbacks',
      ),
      timeoutMs: reader.count(`${prefix}_TIMEOUT_MS`, DEFAULT_TIMEOUT_MS, 100, 10_000),
    };
  };
  const byMode = (code: ProviderCode) =>
    Object.fromEntries(MODES.map((mode) => [mode, read(code, mode)]));
  return Object.fromEntries(PROVIDER_CODES.map((code) => [code, byMode(code)])) as ProviderConfig;
}

/**
 * Reads the queues of all providers, also of those that are not enabled, so that their payouts say why
 * they wait.
 */
function readProviderQueues(reader: EnvironmentReader): ProviderQueue[] {
  return PROVIDER_CODES.flatMap((provider) =>
    MODES.map((mode) => {
      const name = `${PROVIDERS[provider].variablePrefix}_${mode.toUpperCase()}_CALLS_PER_SECOND`;
      const rate = reader.optional(name) === undefined ? null : reader.count(name, 1, 1, 10_000);
      return { taskQueue: providerQueue({ provider, mode }), callsPerSecond: rate };
    }),
  );
}

function readScreening(reader: EnvironmentReader): ScreeningConfig | null {
  const timeoutMs = reader.count('SCREENING_TIMEOUT_MS', SCREENING_TIMEOUT_MS, 100, 10_000);
  if (reader.optional('SCREENING_URL') === undefined) return null;
  return {
    url: reader.url('SCREENING_URL', ['https:', 'http:']),
    apiKey: reader.text('SCREENING_API_KEY', 'the API key at the screening service'),
    timeoutMs,
  };
}

function readDeployment(reader: EnvironmentReader): WorkerDeployment | null {
  const isSet = (name: string) => reader.optional(name) !== undefined;
  if (![isSet('WORKER_DEPLOYMENT_NAME'), isSet('WORKER_BUILD_ID')].includes(true)) return null;
  return {
    deploymentName: reader.text('WORKER_DEPLOYMENT_NAME', 'the name of the worker deployment'),
    buildId: reader.text('WORKER_BUILD_ID', 'the version of this build'),
  };
}

function readWebhooks(reader: EnvironmentReader, env: NodeJS.ProcessEnv): WebhookSettings {
  const settings = { ...readWebhookSettings(env), secretKey: reader.secret('WEBHOOK_SECRET_KEY') };
  reader.cidrs('WEBHOOK_ALLOW_CIDRS', settings.testMode.allowCidrs);
  reader.cidrs('WEBHOOK_LIVE_ALLOW_CIDRS', settings.allowCidrs);
  reader.cidrs('WEBHOOK_DENY_CIDRS', settings.denyCidrs);
  return settings;
}

/** Collects all faults instead of stopping at the first one. */
class EnvironmentReader {
  readonly #env: NodeJS.ProcessEnv;
  readonly #faults: string[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  optional(name: string): string | undefined {
    const value = this.#env[name]?.trim() ?? '';
    return value === '' ? undefined : value;
  }

  text(name: string, meaning: string): string {
    const value = this.optional(name);
    if (value === undefined) this.#faults.push(`${name} is not set. Set it to ${meaning}.`);
    return value ?? '';
  }

  optionalSecret(name: string): string | null {
    return this.optional(name) === undefined ? null : this.secret(name);
  }

  /** Secrets that are separated by commas. */
  secrets(name: string): string[] {
    const values = listOf(this.optional(name));
    if (values.some((value) => value.length < SECRET_MIN_LENGTH)) {
      this.#faults.push(
        `${name} has a secret that is too short. Each has at least ${SECRET_MIN_LENGTH} characters; separate them by commas.`,
      );
    }
    return values;
  }

  secret(name: string): string {
    const value = this.text(name, `a secret of at least ${SECRET_MIN_LENGTH} characters`);
    if (value !== '' && value.length < SECRET_MIN_LENGTH) {
      this.#faults.push(
        `${name} is too short. Use at least ${SECRET_MIN_LENGTH} random characters.`,
      );
    }
    return value;
  }

  url(name: string, protocols: string[]): string {
    const form = `a URL starting with ${protocols.join('// or ')}//`;
    const value = this.text(name, form);
    if (value !== '' && !protocols.includes(URL.parse(value)?.protocol ?? '')) {
      this.#faults.push(`${name} must be ${form}.`);
    }
    return value;
  }

  /** A URL without the slashes at its end; null if it is not set. */
  optionalUrl(name: string, protocols: string[]): string | null {
    if (this.optional(name) === undefined) return null;
    return this.url(name, protocols).replace(/\/+$/, '');
  }

  /** Reads a part of another module, whose SetupError becomes one fault. */
  take<Value>(otherwise: Value, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      this.#faults.push(error.message);
      return otherwise;
    }
  }

  cidrs(name: string, values: readonly string[]): void {
    for (const value of values) {
      try {
        parseCidr(value);
      } catch (error) {
        this.#faults.push(`${name}: ${(error as Error).message}.`);
      }
    }
  }

  count(name: string, otherwise: number, min: number, max: number): number {
    const value = this.optional(name);
    if (value === undefined) return otherwise;
    const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    this.#faults.push(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
    return otherwise;
  }

  oneOf(name: string, values: readonly string[], otherwise: string): string {
    const value = this.optional(name) ?? otherwise;
    if (!values.includes(value)) {
      const allowed = values.filter((one) => one !== '').join(', ');
      this.#faults.push(`${name} must be one of: ${allowed}.`);
    }
    return value;
  }

  /** A comma-separated list; all values if it is not set. */
  listOf<Value extends string>(name: string, values: readonly Value[]): Value[] {
    const asked = this.optional(name)?.split(',') ?? values;
    const chosen = values.filter((value) => asked.some((one) => one.trim() === value));
    if (chosen.length !== asked.length) {
      this.#faults.push(`${name} must be a list of different values of: ${values.join(', ')}.`);
    }
    return chosen;
  }

  throwIfFaulty(more: readonly string[]): void {
    const faults = [...this.#faults, ...more];
    if (faults.length > 0) throw invalidEnvironment(faults);
  }
}
