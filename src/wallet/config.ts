/**
 * The configuration of the wallet: the environment, and the file of networks (networks.ts). The
 * process (src/bin/wallet.ts) reads it once; tests pass it to a wallet in their own process.
 */
import { productionFaults } from '../lib/production';
import { invalidEnvironment, SetupError } from '../lib/setup-error';
import { type Network, readNetworksFile, type WalletMode } from './networks';
import { signerFaults } from './signer/production';

export interface Credentials {
  /** What the gateway sends as its bearer key. */
  apiKey: string;
  /** Signs callbacks to the gateway. */
  callbackSecret: string;
}

export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields?: Record<string, unknown>,
) => void;

export interface WalletConfig {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Where a customer's browser finds the hosted pages; null: the listening address. */
  publicUrl: string | null;
  /** The login of the wallet, a member of the role wallet_app. */
  databaseUrl: string;
  /** The login that owns the schema `wallet`; migrations run at the start when it is set. */
  databaseOwnerUrl: string | null;
  /** The gateway; null sends no callbacks. No slash at the end. */
  callbackBaseUrl: string | null;
  /** Null where the wallet is closed in that mode. */
  credentials: Record<WalletMode, Credentials | null>;
  networks: readonly Network[];
  /** Extended public keys of the deposit addresses; null where the mode takes no deposits. */
  xpubs: Record<WalletMode, string | null>;
  /** The service that screens deposits; null: only the list of denied addresses does. */
  screening: { url: string; token: string | null } | null;
  log: Log;
}

/** What the program needs besides: tests start a wallet without it. */
export interface WalletProgramConfig extends WalletConfig {
  /** Path of the workflows' bundle; null: bundled at the start. */
  workflowBundle: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws SetupError with a sentence that names the variable or field and what is wrong with it */
export function readWalletConfig(environment: Environment, log: Log): WalletProgramConfig {
  const takesDeposits = [environment['WALLET_TEST_XPUB'], environment['WALLET_LIVE_XPUB']].some(
    Boolean,
  );
  const faults = productionFaults(environment, {
    name: 'WALLET_PUBLIC_URL',
    isRequired: takesDeposits,
  });
  if (faults.length > 0) throw invalidEnvironment(faults);
  const databaseUrl = environment['WALLET_DATABASE_URL'] ?? '';
  if (databaseUrl === '') {
    throw new SetupError(
      'WALLET_DATABASE_URL is not set. Set it to the URL of the wallet’s PostgreSQL login, such as postgres://wallet:…@host/database.',
    );
  }
  const networksFile = environment['WALLET_NETWORKS_FILE'] ?? '';
  if (networksFile === '') {
    throw new SetupError(
      'WALLET_NETWORKS_FILE is not set. Set it to the path of a JSON file with the networks (docs/wallet.md, "Networks").',
    );
  }
  const credentials = {
    test: readCredentials(environment, 'ONCHAIN_TEST'),
    live: readCredentials(environment, 'ONCHAIN_LIVE'),
  };
  if (credentials.test === null && credentials.live === null) {
    throw new SetupError(
      'No API key is set. Set ONCHAIN_TEST_API_KEY and ONCHAIN_TEST_CALLBACK_SECRET, or the same with LIVE, to the values that the gateway has.',
    );
  }
  if (credentials.test?.apiKey === credentials.live?.apiKey) {
    throw new SetupError(
      'ONCHAIN_TEST_API_KEY and ONCHAIN_LIVE_API_KEY are the same. Set different keys: the key alone tells the mode.',
    );
  }
  const networks = readNetworksFile(networksFile, {
    isDevelopment: environment['GATEWAY_ENV'] === 'development',
  });
  const exposed = environment['GATEWAY_ENV'] === 'production' ? signerFaults(networks) : [];
  if (exposed.length > 0) throw invalidEnvironment(exposed);
  for (const { mode, name } of networks) {
    if (credentials[mode] !== null) continue;
    const prefix = `ONCHAIN_${mode.toUpperCase()}`;
    throw new SetupError(
      `${prefix}_API_KEY is not set, but ${networksFile} has the network ${name} in ${mode} mode. Set ${prefix}_API_KEY and ${prefix}_CALLBACK_SECRET, or remove the network.`,
    );
  }
  return {
    host: environment['WALLET_HOST']?.trim() || '127.0.0.1',
    port: readPort(environment, 'WALLET_PORT', 3002),
    publicUrl: readBaseUrl(environment, 'WALLET_PUBLIC_URL'),
    databaseUrl,
    databaseOwnerUrl: (environment['WALLET_DATABASE_OWNER_URL'] ?? '') || null,
    callbackBaseUrl: readBaseUrl(environment, 'WALLET_CALLBACK_BASE_URL'),
    credentials,
    networks,
    xpubs: {
      test: (environment['WALLET_TEST_XPUB'] ?? '') || null,
      live: (environment['WALLET_LIVE_XPUB'] ?? '') || null,
    },
    screening: readScreening(environment),
    workflowBundle: (environment['WALLET_WORKFLOW_BUNDLE'] ?? '') || null,
    log,
  };
}

function readPort(environment: Environment, name: string, otherwise: number): number {
  const text = environment[name] ?? '';
  if (text === '') return otherwise;
  if (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new SetupError(`${name} must be a whole number from 0 to 65535.`);
  }
  return Number(text);
}

function readBaseUrl(environment: Environment, name: string): string | null {
  const text = environment[name] ?? '';
  if (text === '') return null;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new SetupError(`${name} must be a URL starting with http:// or https://.`);
  }
  return text.replace(/\/+$/, '');
}

function readScreening(environment: Environment): WalletConfig['screening'] {
  const url = readBaseUrl(environment, 'WALLET_SCREENING_URL');
  return url === null
    ? null
    : { url, token: (environment['WALLET_SCREENING_TOKEN'] ?? '') || null };
}

function readCredentials(environment: Environment, prefix: string): Credentials | null {
  const apiKey = environment[`${prefix}_API_KEY`] ?? '';
  const callbackSecret = environment[`${prefix}_CALLBACK_SECRET`] ?? '';
  if (apiKey === '' && callbackSecret === '') return null;
  if (apiKey === '' || callbackSecret === '') {
    throw new SetupError(`${prefix}_API_KEY and ${prefix}_CALLBACK_SECRET must be set together.`);
  }
  return { apiKey, callbackSecret };
}
