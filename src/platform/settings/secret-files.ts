/**
 * Secrets from files, such as those that Docker and Kubernetes mount: `KEY_PEPPER_FILE` names the file
 * with the value of `KEY_PEPPER`. An environment is shown by many tools; a file can be protected.
 */
import { readFileSync } from 'node:fs';
import { isSecretSetting } from './settings';
import { SetupError } from '../lib/setup-error';

const SUFFIX = '_FILE';

/**
 * The environment with the values of the files; a line break at the end of a file is ignored.
 * @throws SetupError for a file that cannot be read, and for a secret that is set twice
 */
export function withSecretFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = {};
  for (const [variable, path = ''] of Object.entries(env)) {
    const name = variable.slice(0, -SUFFIX.length);
    if (!variable.endsWith(SUFFIX) || !isSecretSetting(name) || path.trim() === '') continue;
    if ((env[name] ?? '').trim() !== '') {
      throw new SetupError(`${name} and ${variable} are both set. Remove one of them.`);
    }
    read[name] = readSecret(variable, path.trim());
  }
  return { ...env, ...read };
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
