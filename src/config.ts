/**
 * The environment, read once and checked as a whole: every mistake is named in one message, with
 * what to set. docs/operations.md explains the variables.
 */
import { isIP } from 'node:net';
import { PROVIDER_CODES, type ProviderCode } from './domain/provider-codes';
import type { ProviderConfig, ProviderModeConfig } from './providers/provider-config';
import { DEFAULT_TIMEOUT_MS } from './providers/provider-http';
import { MODES, type Mode } from './domain/mode';
import { SetupError } from './lib/setup-error';
import { readWebhookSettings, type WebhookSettings } from './lib/webhook-settings';

export interface Config {
  databaseUrl: string;
  /** Connections to PostgreSQL that this process may hold. */
  databasePoolSize: number;
  temporal: { address: string; namespace: string };
  port: number;
  /** The address to listen on; undefined: all. */
  host: string | undefined;
  publicUrl: string;
  trustedProxyHops: number;
  keyPepper: string;
  cursorSecret: string;
  providers: ProviderConfig;
  webhooks: WebhookSettings;
  worker: { maxCachedWorkflows: number; shutdownGraceMs: number; workflowBundle: string | null };
  logLevel: string;
}

const VARIABLE_PREFIX: Record<ProviderCode, string> = {
  onchain_provider: 'ONCHAIN',
  exchange_pay: 'EXCHANGE_PAY',
};

const SECRET_MIN_LENGTH = 32;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** @throws SetupError that names everything that is missing or wrong */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const reader = new EnvironmentReader(env);
  const port = reader.count('PORT', 3000, 0, 65_535);
  const config: Config = {
    databaseUrl: reader.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    databasePoolSize: reader.count('DATABASE_POOL_SIZE', 20, 1, 500),
    temporal: {
      address: reader.text('TEMPORAL_ADDRESS', 'host:port of the Temporal cluster'),
      namespace: reader.optional('TEMPORAL_NAMESPACE') ?? 'default',
    },
    port,
    host: reader.optional('HOST'),
    publicUrl: reader.optional('PUBLIC_URL')?.replace(/\/+$/, '') ?? `http://localhost:${port}`,
    trustedProxyHops: reader.count('TRUSTED_PROXY_HOPS', 0, 0, 10),
    keyPepper: reader.secret('KEY_PEPPER'),
    cursorSecret: reader.secret('CURSOR_SECRET'),
    providers: readProviders(reader),
    webhooks: readWebhooks(reader, env),
    worker: {
      maxCachedWorkflows: reader.count('MAX_CACHED_WORKFLOWS', 1_000, 2, 100_000),
      shutdownGraceMs: reader.count('WORKER_GRACE_MS', 15_000, 0, 600_000),
      workflowBundle: reader.optional('WORKFLOW_BUNDLE') ?? null,
    },
    logLevel: reader.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
  };
  reader.throwIfFaulty();
  return config;
}

function readProviders(reader: EnvironmentReader): ProviderConfig {
  const read = (code: ProviderCode, mode: Mode): ProviderModeConfig | null => {
    const prefix = `${VARIABLE_PREFIX[code]}_${mode.toUpperCase()}`;
    // Without an address the provider is not used in this mode.
    if (reader.optional(`${prefix}_URL`) === undefined) return null;
    return {
      baseUrl: reader.url(`${prefix}_URL`, ['https:', 'http:']).replace(/\/+$/, ''),
      apiKey: reader.text(`${prefix}_API_KEY`, 'our key at the provider'),
      callbackSecret: reader.text(`${prefix}_CALLBACK_SECRET`, 'signs the provider’s callbacks'),
      timeoutMs: reader.count(`${prefix}_TIMEOUT_MS`, DEFAULT_TIMEOUT_MS, 100, 10_000),
    };
  };
  const byMode = (code: ProviderCode) =>
    Object.fromEntries(MODES.map((mode) => [mode, read(code, mode)]));
  return Object.fromEntries(PROVIDER_CODES.map((code) => [code, byMode(code)])) as ProviderConfig;
}

function readWebhooks(reader: EnvironmentReader, env: NodeJS.ProcessEnv): WebhookSettings {
  const settings = { ...readWebhookSettings(env), secretKey: reader.secret('WEBHOOK_SECRET_KEY') };
  reader.cidrs('WEBHOOK_ALLOW_CIDRS', settings.allowCidrs);
  reader.cidrs('WEBHOOK_DENY_CIDRS', settings.denyCidrs);
  return settings;
}

/** Collects faults instead of stopping at the first. */
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
    if (value === undefined) this.#faults.push(`${name} is not set: ${meaning}`);
    return value ?? '';
  }

  secret(name: string): string {
    const value = this.text(name, `a secret of at least ${SECRET_MIN_LENGTH} characters`);
    if (value !== '' && value.length < SECRET_MIN_LENGTH) {
      this.#faults.push(`${name} is too short: at least ${SECRET_MIN_LENGTH} random characters`);
    }
    return value;
  }

  url(name: string, protocols: string[]): string {
    const value = this.text(name, `an address that begins with ${protocols.join('// or ')}//`);
    if (value !== '' && !protocols.includes(URL.parse(value)?.protocol ?? '')) {
      this.#faults.push(`${name} is no address that begins with ${protocols.join('// or ')}//`);
    }
    return value;
  }

  cidrs(name: string, values: readonly string[]): void {
    const wrong = values.find((value) => !isCidr(value));
    if (wrong !== undefined) this.#faults.push(`${name} holds "${wrong}", which is no network`);
  }

  count(name: string, otherwise: number, min: number, max: number): number {
    const value = this.optional(name);
    if (value === undefined) return otherwise;
    const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    this.#faults.push(`${name} is "${value}": a whole number from ${min} to ${max}`);
    return otherwise;
  }

  oneOf(name: string, values: readonly string[], otherwise: string): string {
    const value = this.optional(name) ?? otherwise;
    if (!values.includes(value)) this.#faults.push(`${name} is one of: ${values.join(', ')}`);
    return value;
  }

  throwIfFaulty(): void {
    if (this.#faults.length === 0) return;
    throw new SetupError(
      `The environment is not complete:\n${this.#faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
}

/** `10.0.0.0/8`, `fd00::/8`. */
function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || !/^[0-9]{1,3}$/.test(bits)) return false;
  return Number(bits) <= (version === 4 ? 32 : 128);
}
