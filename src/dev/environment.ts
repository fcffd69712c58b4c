/**
 * The environment of the gateway's processes in development: the variables that an operator sets
 * in production (src/shell/config.ts), filled in for this machine, and the secrets among them.
 */
import { randomBytes } from 'node:crypto';
import { type DataLayout, readPrivateJson, writePrivateJson } from '../platform/lib/data-folder';
import { DEVELOPMENT_SECRET } from '../platform/settings/production';
import type { Ports } from './ports';
import { TEMPORAL_NAMESPACE } from './servers';

const PROVIDERS = [
  { prefix: 'ONCHAIN', sandboxPath: '/onchain' },
  { prefix: 'EXCHANGE_PAY', sandboxPath: '/exchange-pay' },
] as const;
const PROVIDER_MODES = ['TEST', 'LIVE'] as const;

const SECRET_NAMES = [
  'KEY_PEPPER',
  'CURSOR_SECRET',
  'WEBHOOK_SECRET_KEY',
  'EVIDENCE_SIGNING_KEY',
  // The login of the API and the worker at the local PostgreSQL.
  'DATABASE_PASSWORD',
  // The login of the wallet of `npm start -- --chain`.
  'WALLET_DATABASE_PASSWORD',
  'SCREENING_API_KEY',
  ...PROVIDERS.flatMap(({ prefix }) =>
    PROVIDER_MODES.flatMap((mode) => [
      `${prefix}_${mode}_API_KEY`,
      `${prefix}_${mode}_CALLBACK_SECRET`,
    ]),
  ),
];

const SECRET_LENGTH_BYTES = 32;

/**
 * The secrets of this installation, generated at the first start and kept: API keys, webhook
 * secrets and stored cursors stay valid over restarts. A variable of the environment wins.
 */
export function loadSecrets(path: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = readPrivateJson(path);
  const secrets = Object.fromEntries(
    SECRET_NAMES.map((name) => {
      const value = kept[name];
      const usable = typeof value === 'string' && value !== '';
      return [name, usable ? value : makeSecret()];
    }),
  );
  if (SECRET_NAMES.some((name) => kept[name] !== secrets[name])) {
    writePrivateJson(path, { ...kept, ...secrets });
  }
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, env[name] ?? value]),
  );
}

/** Makes a secret for development, which production refuses (src/platform/settings/production.ts). */
function makeSecret(): string {
  return `${DEVELOPMENT_SECRET}${randomBytes(SECRET_LENGTH_BYTES).toString('hex')}`;
}

interface GatewayAddresses {
  databaseUrl: string;
  /** The URL of the api process's dashboard; null for the worker. */
  dashboardUrl: string | null;
  temporalAddress: string;
  /** The UI of the local server; null when another cluster is used. */
  temporalUiUrl: string | null;
  /** The on-chain provider of test mode; null means the sandbox. */
  chainUrl: string | null;
}

export function sandboxEnvironment(
  layout: DataLayout,
  ports: Ports,
  secrets: Record<string, string>,
  webhookSecret: string,
): NodeJS.ProcessEnv {
  return {
    ...sharedEnvironment(secrets),
    SANDBOX_WEBHOOK_SECRET: webhookSecret,
    SANDBOX_PORT: ports.sandbox.toString(),
    SANDBOX_DATA_DIR: layout.sandbox,
    SANDBOX_CALLBACK_BASE_URL: `http://127.0.0.1:${ports.api}`,
  };
}

export function walletEnvironment(
  ports: Ports,
  secrets: Record<string, string>,
  {
    databaseUrl,
    networksFile,
    xpub,
    temporalAddress,
  }: Record<'databaseUrl' | 'networksFile' | 'xpub' | 'temporalAddress', string>,
): NodeJS.ProcessEnv {
  return {
    ...sharedEnvironment(secrets),
    WALLET_DATABASE_URL: databaseUrl,
    WALLET_NETWORKS_FILE: networksFile,
    WALLET_TEST_XPUB: xpub,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE,
    WALLET_PORT: ports.wallet.toString(),
    // The port is a free one that the log names.
    METRICS_PORT: '0',
    WALLET_PUBLIC_URL: `http://localhost:${ports.wallet}`,
    WALLET_CALLBACK_BASE_URL: `http://127.0.0.1:${ports.api}`,
  };
}

export function gatewayEnvironment(
  ports: Ports,
  secrets: Record<string, string>,
  { databaseUrl, dashboardUrl, temporalAddress, temporalUiUrl, chainUrl }: GatewayAddresses,
): NodeJS.ProcessEnv {
  const sandboxUrl = `http://127.0.0.1:${ports.sandbox}`;
  const providerUrls = PROVIDERS.flatMap(({ prefix, sandboxPath }) =>
    PROVIDER_MODES.map((mode): [string, string] => [
      `${prefix}_${mode}_URL`,
      `${sandboxUrl}${sandboxPath}`,
    ]),
  );
  return {
    ...sharedEnvironment(secrets),
    // Development keys open it, so only this machine can reach it unless HOST is set.
    HOST: process.env['HOST'] ?? '127.0.0.1',
    PORT: ports.api.toString(),
    // The port of each process is a free one that its log names.
    METRICS_PORT: '0',
    PUBLIC_URL: `http://localhost:${ports.api}`,
    CONSOLE_URL: `http://localhost:${ports.api}/console`,
    DATABASE_URL: databaseUrl,
    ...(dashboardUrl === null ? {} : { DASHBOARD_DATABASE_URL: dashboardUrl }),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE,
    ...(temporalUiUrl === null ? {} : { TEMPORAL_UI_URL: temporalUiUrl }),
    // Ctrl-C stops everything within ten seconds (supervisor.ts).
    WORKER_GRACE_MS: '1500',
    ...Object.fromEntries(providerUrls),
    SCREENING_URL: `${sandboxUrl}/sandbox/screening`,
    ...(chainUrl === null ? {} : { ONCHAIN_TEST_URL: chainUrl }),
  };
}

function sharedEnvironment(secrets: Record<string, string>): NodeJS.ProcessEnv {
  // The owner's connection is for migrations only; DATABASE_URL contains the password.
  const { DATABASE_OWNER_URL, ...inherited } = process.env;
  const { DATABASE_PASSWORD, WALLET_DATABASE_PASSWORD, ...needed } = secrets;
  return { ...inherited, GATEWAY_ENV: 'development', ...needed };
}
