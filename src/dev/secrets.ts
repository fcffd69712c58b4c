/**
 * The secrets of a development installation, made at the first start and kept: API keys, webhook
 * secrets and stored cursors stay valid over restarts.
 */
import { randomBytes } from 'node:crypto';
import { readPrivateJson, writePrivateJson } from './private-file';

export const PROVIDERS = [
  { prefix: 'ONCHAIN', sandboxPath: '/onchain' },
  { prefix: 'EXCHANGE_PAY', sandboxPath: '/exchange-pay' },
] as const;
export const PROVIDER_MODES = ['TEST', 'LIVE'] as const;

const SECRET_NAMES = [
  'KEY_PEPPER',
  'CURSOR_SECRET',
  'WEBHOOK_SECRET_KEY',
  // The login of the API and the worker at the local PostgreSQL.
  'DATABASE_PASSWORD',
  ...PROVIDERS.flatMap(({ prefix }) =>
    PROVIDER_MODES.flatMap((mode) => [
      `${prefix}_${mode}_API_KEY`,
      `${prefix}_${mode}_CALLBACK_SECRET`,
    ]),
  ),
];

const SECRET_LENGTH_BYTES = 32;

/** Reads the secrets and makes those that are missing; a variable of the environment wins. */
export function loadSecrets(path: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = readPrivateJson(path);
  const secrets = Object.fromEntries(
    SECRET_NAMES.map((name) => {
      const value = kept[name];
      const usable = typeof value === 'string' && value !== '';
      return [name, usable ? value : randomBytes(SECRET_LENGTH_BYTES).toString('hex')];
    }),
  );
  if (SECRET_NAMES.some((name) => kept[name] !== secrets[name])) {
    writePrivateJson(path, { ...kept, ...secrets });
  }
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, env[name] ?? value]),
  );
}
