/**
 * `.gateway/dev.json`: the addresses and the logins of this installation. Scripts read it; its
 * members are part of the project's stable interface. `npm start` prints most of them.
 */
import { relative } from 'node:path';
import { type DataLayout, readPrivateJson, writePrivateJson } from '../platform/lib/data-folder';
import type { ChainSettings } from './chain/local-chain';
import type { Ports } from './ports';
import type { Temporal } from './servers';

interface Login {
  email: string;
  password: string;
}

/** The credentials that the first start generates and later starts keep. */
export interface SeededCredentials {
  merchant: Login;
  operator: Login;
  test_key: string;
  live_key: string;
  test_webhook_secret: string;
}

export interface DevSettings extends SeededCredentials {
  base_url: string;
  dashboard_url: string;
  operator_url: string;
  sandbox_url: string;
  temporal_address: string;
  temporal_ui_url: string | null;
  temporal_cli: string | null;
  postgres_url: string;
  /** These two are set only with `npm start -- --chain`. */
  wallet_url?: string;
  chain?: ChainSettings;
}

/** The credentials of an earlier start, or null when any of them is missing. */
export function readCredentials(path: string): SeededCredentials | null {
  const { merchant, operator, test_key, live_key, test_webhook_secret } = readPrivateJson(path);
  const complete =
    isLogin(merchant) &&
    isLogin(operator) &&
    typeof test_key === 'string' &&
    typeof live_key === 'string' &&
    typeof test_webhook_secret === 'string';
  return complete ? { merchant, operator, test_key, live_key, test_webhook_secret } : null;
}

export function writeSettings(
  path: string,
  ports: Ports,
  temporal: Temporal,
  { ownerUrl, credentials }: { ownerUrl: string; credentials: SeededCredentials },
  chain: ChainSettings | null,
): DevSettings {
  const publicUrl = `http://localhost:${ports.api}`;
  const settings: DevSettings = {
    base_url: `${publicUrl}/api/v1`,
    dashboard_url: `${publicUrl}/dashboard`,
    operator_url: `${publicUrl}/console`,
    sandbox_url: `http://localhost:${ports.sandbox}`,
    temporal_address: temporal.address,
    temporal_ui_url: temporal.uiUrl,
    temporal_cli: temporal.cliPath,
    postgres_url: ownerUrl,
    merchant: credentials.merchant,
    operator: credentials.operator,
    test_key: credentials.test_key,
    live_key: credentials.live_key,
    test_webhook_secret: credentials.test_webhook_secret,
    ...(chain === null ? {} : { wallet_url: `http://localhost:${ports.wallet}`, chain }),
  };
  writePrivateJson(path, settings);
  return settings;
}

/** Prints the summary of `npm start` when everything runs. */
export function printSummary(settings: DevSettings, layout: DataLayout): void {
  const near = (path: string): string => relative(process.cwd(), path) || path;
  const rows: [string, string][] = [
    ['API', settings.base_url],
    ['Dashboard', settings.dashboard_url],
    ['  Sign in', `${settings.merchant.email}  ${settings.merchant.password}`],
    ['Console', settings.operator_url],
    ['  Sign in', `${settings.operator.email}  ${settings.operator.password}`],
    ['Sandbox', settings.sandbox_url],
    ['  Webhooks', `${settings.sandbox_url}/inbox`],
    ['Temporal', settings.temporal_address],
    ['  UI', settings.temporal_ui_url ?? 'see your cluster'],
    ['  CLI', settings.temporal_cli ?? 'not installed'],
    ...(settings.chain === undefined ? [] : [describeChain(settings.chain)]),
    ['Test key', settings.test_key],
    ['Live key', settings.live_key],
    ['Settings', `${near(layout.settings)} (for scripts)`],
    ['Logs', `${near(layout.logs)}/`],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  process.stdout.write(`\n${lines.join('\n')}\n\n`);
}

function describeChain({ rpc_url, chain_id, network, mode }: ChainSettings): [string, string] {
  return ['Chain', `${rpc_url}  id ${chain_id}, serves ${network} in ${mode} mode`];
}

function isLogin(value: unknown): value is Login {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Login>).email === 'string' &&
    typeof (value as Partial<Login>).password === 'string'
  );
}
