/**
 * `.gateway/dev.json`: where everything is and how to get in. Scripts read it; its members are
 * part of the project's stable interface.
 */
import { readPrivateJson, writePrivateJson } from './private-file';
import type { Ports } from './ports';
import type { Temporal } from './servers';

interface Login {
  email: string;
  password: string;
}

/** What the first start seeds and later starts keep. */
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
): DevSettings {
  const publicUrl = `http://localhost:${ports.api}`;
  const settings: DevSettings = {
    base_url: `${publicUrl}/api/v1`,
    dashboard_url: `${publicUrl}/dashboard`,
    operator_url: `${publicUrl}/operator`,
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
  };
  writePrivateJson(path, settings);
  return settings;
}

function isLogin(value: unknown): value is Login {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Login>).email === 'string' &&
    typeof (value as Partial<Login>).password === 'string'
  );
}
