/**
 * Profiles: an API key with the base URL that it is sent to, in a file of the user that nobody else can
 * read.
 */
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { textOf, UsageError } from './failure';

export interface Profile {
  baseUrl: string;
  key: string;
}

export const DEFAULT_PROFILE = 'default';

/** `~/.config/payments-gateway/profiles.json`, or where the system keeps settings of programs. */
export function profilesFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME: configHome, APPDATA: appData } = env;
  const isWindows = process.platform === 'win32' && appData !== undefined && appData !== '';
  const named =
    configHome === undefined || configHome === '' ? join(homedir(), '.config') : configHome;
  return join(isWindows ? appData : named, 'payments-gateway', 'profiles.json');
}

export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(name)) return name;
  throw new UsageError('--profile must be 1 to 40 letters, digits, "_" or "-".');
}

/** @throws UsageError when the file cannot be read, or others can read it */
export function readProfiles(): Map<string, Profile> {
  const file = profilesFile();
  let text: string;
  try {
    const { mode } = statSync(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(`Other users can read the keys in ${file}.`, `Run: chmod 600 '${file}'`);
    }
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The profiles cannot be read: ${textOf(error)}`, REMEDY);
  }
  return new Map(Object.entries(parse(text, file)));
}

const REMEDY = 'Correct the file or its permissions, or delete it and run payments-gateway login.';

function parse(text: string, file: string): Record<string, Profile> {
  try {
    const profiles = JSON.parse(text) as Record<string, Profile>;
    const isValid = Object.values(profiles).every(
      ({ baseUrl, key }) => typeof baseUrl === 'string' && typeof key === 'string',
    );
    if (isValid && !Array.isArray(profiles)) return profiles;
  } catch {
    // Invalid JSON is reported below, like any other content that is not the profiles.
  }
  throw new UsageError(`${file} is not a file of profiles.`, REMEDY);
}

/** A rename replaces the file as a whole, so a crash leaves the old or the new profiles. */
export function writeProfiles(profiles: ReadonlyMap<string, Profile>): void {
  const file = profilesFile();
  try {
    if (profiles.size === 0) {
      rmSync(file, { force: true });
      return;
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const text = `${JSON.stringify(Object.fromEntries(profiles), null, 2)}\n`;
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    // An older file of this name keeps its mode when it is written.
    chmodSync(`${file}.new`, 0o600);
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new UsageError(`The profiles cannot be written: ${textOf(error)}`, REMEDY);
  }
}
