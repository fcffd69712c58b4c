/**
 * The configuration of the sandbox. The process (src/bin/sandbox.ts) reads it from the environment;
 * tests pass it to a sandbox in their own process.
 */
import { SetupError } from '../../platform/lib/setup-error';
import { type Mode, MODES } from '../onchain-api/requests';

export const PROVIDER_NAMES = ['onchain_provider', 'exchange_pay'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** The two books are separate. */
export const BOOK_MODES = MODES;
export type BookMode = Mode;

export interface Credentials {
  apiKey: string;
  callbackSecret: string;
}

/** Null where the provider is not available in that mode. */
export type CredentialsTable = Record<ProviderName, Record<BookMode, Credentials | null>>;

export type Log = (message: string, fields?: Record<string, unknown>) => void;

/** What control endpoints may change while the sandbox runs. */
export interface SandboxSettings {
  /** Null sends no callbacks. No slash at the end. */
  callbackBaseUrl: string | null;
  /** Where a customer's browser finds the hosted pages; null until the sandbox listens. */
  publicUrl: string | null;
  /** Other names that programs call it by, such as those of a container's network. */
  hosts: readonly string[];
  /** Milliseconds from acceptance to the first outcome. */
  settleMs: number;
  /** Milliseconds from acceptance to the outcome of a slow transfer, and from a failure to its late success. */
  slowMs: number;
  /** How many submissions of one reference scenario error_5xx answers with 500. */
  errorSubmissions: number;
  /** Waits between the attempts of one callback; one attempt more than there are waits. */
  callbackRetryMs: readonly number[];
}

export interface SandboxConfig extends SandboxSettings {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Where the book is kept; null keeps it in memory only. */
  dataDir: string | null;
  credentials: CredentialsTable;
  /** The key of the screening service; null if it answers nobody. */
  screeningKey: string | null;
  /** The secret of the endpoint that points at the inbox; null means it verifies nothing. */
  webhookSecret: string | null;
  log: Log;
}

const silent: Log = () => undefined;

export const SANDBOX_DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  dataDir: null,
  callbackBaseUrl: null,
  publicUrl: null,
  hosts: [],
  settleMs: 300,
  slowMs: 5_000,
  errorSubmissions: 2,
  // Together long enough for a gateway to restart, short enough for a developer to wait.
  callbackRetryMs: [500, 2_000, 8_000, 20_000],
  screeningKey: null,
  webhookSecret: null,
  log: silent,
} as const satisfies Omit<SandboxConfig, 'credentials'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Error with a sentence that names the variable and what is wrong with it */
export function readSandboxConfig(environment: Environment, log: Log): SandboxConfig {
  return {
    host: environment.SANDBOX_HOST ?? SANDBOX_DEFAULTS.host,
    port: readWholeNumber(environment, 'SANDBOX_PORT', 3001, 65_535),
    dataDir: environment.SANDBOX_DATA_DIR ?? null,
    callbackBaseUrl: readBaseUrl(environment, 'SANDBOX_CALLBACK_BASE_URL'),
    publicUrl: readBaseUrl(environment, 'SANDBOX_PUBLIC_URL'),
    hosts: (environment.SANDBOX_HOSTS ?? '').split(',').filter((name) => name !== ''),
    settleMs: readWholeNumber(environment, 'SANDBOX_SETTLE_MS', SANDBOX_DEFAULTS.settleMs),
    slowMs: readWholeNumber(environment, 'SANDBOX_SLOW_MS', SANDBOX_DEFAULTS.slowMs),
    errorSubmissions: readWholeNumber(
      environment,
      'SANDBOX_ERROR_SUBMISSIONS',
      SANDBOX_DEFAULTS.errorSubmissions,
    ),
    callbackRetryMs: SANDBOX_DEFAULTS.callbackRetryMs,
    credentials: {
      onchain_provider: readCredentials(environment, 'ONCHAIN'),
      exchange_pay: readCredentials(environment, 'EXCHANGE_PAY'),
    },
    screeningKey: (environment.SCREENING_API_KEY ?? '') || null,
    webhookSecret: (environment.SANDBOX_WEBHOOK_SECRET ?? '') || null,
    log,
  };
}

const DELAY_MS_MAX = 86_400_000;

function readWholeNumber(
  environment: Environment,
  name: string,
  otherwise: number,
  maximum = DELAY_MS_MAX,
): number {
  const text = environment[name];
  if (text === undefined || text === '') return otherwise;
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value > maximum) {
    throw new SetupError(`${name} must be a whole number from 0 to ${String(maximum)}.`);
  }
  return value;
}

function readBaseUrl(environment: Environment, name: string): string | null {
  const text = environment[name];
  if (text === undefined || text === '') return null;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new SetupError(`${name} must be a URL starting with http:// or https://.`);
  }
  return text.replace(/\/+$/, '');
}

function readCredentials(
  environment: Environment,
  prefix: string,
): Record<BookMode, Credentials | null> {
  return {
    test: readModeCredentials(environment, `${prefix}_TEST`),
    live: readModeCredentials(environment, `${prefix}_LIVE`),
  };
}

function readModeCredentials(environment: Environment, prefix: string): Credentials | null {
  const apiKey = environment[`${prefix}_API_KEY`] ?? '';
  const callbackSecret = environment[`${prefix}_CALLBACK_SECRET`] ?? '';
  if (apiKey === '' && callbackSecret === '') return null;
  if (apiKey === '' || callbackSecret === '') {
    throw new SetupError(`${prefix}_API_KEY and ${prefix}_CALLBACK_SECRET must be set together.`);
  }
  return { apiKey, callbackSecret };
}
