/**
 * Secrets from files, such as those that Docker and Kubernetes mount: `KEY_PEPPER_FILE` names the file
 * with the value of `KEY_PEPPER`. An environment is shown by many tools; a file can be protected.
 */
import { readFileSync } from 'node:fs';
import { SetupError } from './setup-error';

const SUFFIX = '_FILE';

const SECRET_VARIABLES = [
  /^DATABASE_URL$/,
  /^DATABASE_OWNER_URL$/,
  /^DASHBOARD_DATABASE_URL$/,
  /^WALLET_DATABASE_(OWNER_)?URL$/,
  /^KEY_PEPPER$/,
  /^CURSOR_SECRET$/,
  /^WEBHOOK_SECRET_KEY$/,
  /^WEBHOOK_SECRET_KEYS_EARLIER$/,
  /^(ONCHAIN|EXCHANGE_PAY)_(TEST|LIVE)_(API_KEY|CALLBACK_SECRET)$/,
];

/**
 * The environment with the values of the files; a line break at the end of a file is ignored.
 * @throws SetupError for a file that cannot be read, and for a secret that is set twice
 */
export function withSecretFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = {};
  for (const [variable, path = ''] of Object.entries(env)) {
    const name = variable.slice(0, -SUFFIX.length);
    if (!variable.endsWith(SUFFIX) || !isSecret(name) || path.trim() === '') continue;
    if ((env[name] ?? '').trim() !== '') {
      throw new SetupError(`${name} and ${variable} are both set. Remove one of them.`);
    }
    read[name] = readSecret(variable, path.trim());
  }
  return { ...env, ...read };
}

function isSecret(name: string): boolean {
  return SECRET_VARIABLES.some((pattern) => pattern.test(name));
}

function readSecret(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new SetupError(
      `${variable}: ${path} cannot be read (${code}). Set it to a file that this process may read.`,
    );
  }
}
