/**
 * The configuration of the wallet: the environment, and the file of networks (networks.ts). The
 * process (src/bin/wallet.ts) reads it once; tests pass it to a wallet in their own process.
 */
import { productionFaults } from '../../platform/settings/production';
import {
  readSettings,
  type SettingsOf,
  settingsOf,
  textOf,
} from '../../platform/settings/read-settings';
import { type Environment, WALLET_SETTINGS } from '../../platform/settings/settings';
import { invalidEnvironment, SetupError } from '../../platform/lib/setup-error';
import { type Network, readNetworksFile, type WalletMode } from './networks';
import { signerFaults } from './signer/production';

export interface Credentials {
  /** The bearer key that the gateway sends. */
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
  /** Where a customer's browser finds the hosted pages; null means the listening address. */
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
  /** The service that screens deposits; null if only the list of denied addresses does. */
  screening: { url: string; token: string | null } | null;
  log: Log;
}

/** The further settings of the program; tests start a wallet without them. */
export interface WalletProgramConfig extends WalletConfig {
  /** Path of the workflows' bundle; null means bundled at the start. */
  workflowBundle: string | null;
  /** The private port for metrics; null if not served. */
  metrics: { port: number | null; host: string };
}

/** @throws SetupError with a sentence that names the variable or field and what is wrong with it */
export function readWalletConfig(env: Environment, log: Log): WalletProgramConfig {
  const faults = [...productionFaults('wallet', env), ...hiddenPages(env)];
  const settings = readSettings(settingsOf('wallet'), env, faults);
  const credentials = readCredentials(settings);
  const networks = readNetworks(settings, credentials);
  return {
    host: settings.WALLET_HOST,
    port: settings.WALLET_PORT,
    publicUrl: settings.WALLET_PUBLIC_URL,
    databaseUrl: settings.WALLET_DATABASE_URL,
    databaseOwnerUrl: settings.WALLET_DATABASE_OWNER_URL,
    callbackBaseUrl: settings.WALLET_CALLBACK_BASE_URL,
    credentials,
    networks,
    xpubs: { test: settings.WALLET_TEST_XPUB, live: settings.WALLET_LIVE_XPUB },
    screening:
      settings.WALLET_SCREENING_URL === null
        ? null
        : { url: settings.WALLET_SCREENING_URL, token: settings.WALLET_SCREENING_TOKEN },
    workflowBundle: settings.WALLET_WORKFLOW_BUNDLE,
    metrics: { port: settings.METRICS_PORT, host: settings.METRICS_HOST },
    log,
  };
}

/** Customers open the payment pages of deposits. */
function hiddenPages(env: Environment): string[] {
  const takesDeposits = ['WALLET_TEST_XPUB', 'WALLET_LIVE_XPUB'].some(
    (name) => textOf(name, env) !== null,
  );
  if (env['GATEWAY_ENV'] !== 'production' || !takesDeposits) return [];
  if (textOf('WALLET_PUBLIC_URL', env) !== null) return [];
  return [`WALLET_PUBLIC_URL is not set. Set it to ${WALLET_SETTINGS.WALLET_PUBLIC_URL.setTo}.`];
}

function readCredentials(settings: SettingsOf<'wallet'>): WalletConfig['credentials'] {
  const credentials = { test: ofMode('ONCHAIN_TEST'), live: ofMode('ONCHAIN_LIVE') };
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
  return credentials;

  function ofMode(prefix: 'ONCHAIN_TEST' | 'ONCHAIN_LIVE'): Credentials | null {
    const apiKey = settings[`${prefix}_API_KEY`];
    const callbackSecret = settings[`${prefix}_CALLBACK_SECRET`];
    if (apiKey === null && callbackSecret === null) return null;
    if (apiKey === null || callbackSecret === null) {
      throw new SetupError(`${prefix}_API_KEY and ${prefix}_CALLBACK_SECRET must be set together.`);
    }
    return { apiKey, callbackSecret };
  }
}

function readNetworks(
  settings: SettingsOf<'wallet'>,
  credentials: WalletConfig['credentials'],
): Network[] {
  const file = settings.WALLET_NETWORKS_FILE;
  const networks = readNetworksFile(file, {
    isDevelopment: settings.GATEWAY_ENV === 'development',
  });
  const exposed = settings.GATEWAY_ENV === 'production' ? signerFaults(networks) : [];
  if (exposed.length > 0) throw invalidEnvironment(exposed);
  for (const { mode, name } of networks) {
    if (credentials[mode] !== null) continue;
    const prefix = `ONCHAIN_${mode.toUpperCase()}`;
    throw new SetupError(
      `${prefix}_API_KEY is not set, but ${file} has the network ${name} in ${mode} mode. Set ${prefix}_API_KEY and ${prefix}_CALLBACK_SECRET, or remove the network.`,
    );
  }
  return networks;
}
