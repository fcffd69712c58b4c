/**
 * The project as JavaScript, in node_modules/.cache/gateway. A program starts in a third of the time that
 * it takes with a loader. Only files that changed are compiled again.
 *
 * Used by `npm start` and by tests that start programs. Production is built by `npm run build`.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The folder of the sources, also when this module itself runs compiled. */
const PROJECT = resolve(__dirname.replace(/node_modules.*/, 'src/dev'), '../..');
/** Inside the project, so that the programs find its packages. */
const COMPILED = join(PROJECT, 'node_modules/.cache/gateway/dist');
const ROOMS = ['src', 'workflows', 'activities', 'clients/typescript/src'];
const TYPEBOX = join(COMPILED, 'node_modules/typebox');
const execute = promisify(execFile);
/** The versions of the packages, which are in the bundles too. */
const LOCKFILE = 'package-lock.json';
/** What build-workflow-bundle.ts writes there, by the setting that names it. */
const BUNDLES = {
  WORKFLOW_BUNDLE: join(COMPILED, 'workflow-bundle.js'),
  WALLET_WORKFLOW_BUNDLE: join(COMPILED, 'wallet-workflow-bundle.js'),
};

/** Another run may write such a file at the same time. */
const BEING_WRITTEN = /\.\d+$/;

/** @returns the folder that stands for the project's */
export async function compileProject(): Promise<string> {
  const sources = filesOf(PROJECT);
  const compiled = filesOf(COMPILED);
  const wanted = new Map([...sources].map(([file, stats]) => [targetOf(file), { file, stats }]));
  const removed = [...compiled.keys()].filter(
    (target) => !wanted.has(target) && !BEING_WRITTEN.test(target),
  );
  for (const target of removed) rmSync(join(COMPILED, target), { force: true });
  const changed = [...wanted].filter(
    ([target, { stats }]) => compiled.get(target)?.mtime.getTime() !== stats.mtime.getTime(),
  );
  if (changed.length + removed.length > 0) {
    for (const bundle of Object.values(BUNDLES)) rmSync(bundle, { force: true });
  }
  if (!existsSync(TYPEBOX) || changed.some(([target]) => target === LOCKFILE)) {
    await execute(process.execPath, [join(PROJECT, 'src/dev/bundle-typebox.js'), TYPEBOX]);
  }
  await Promise.all(changed.map(([target, { file, stats }]) => write(target, file, stats)));
  // The API serves the guides.
  const docs = join(COMPILED, 'docs');
  try {
    symlinkSync(join(PROJECT, 'docs'), docs);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return COMPILED;
}

/**
 * Bundles the workflows of the compiled project, unless that was done since its last change.
 * @returns the settings that name the bundles
 */
export async function bundleCompiledWorkflows(): Promise<typeof BUNDLES> {
  if (Object.values(BUNDLES).every((bundle) => existsSync(bundle))) return BUNDLES;
  const program = join(COMPILED, 'src/bin/build-workflow-bundle.js');
  await execute(process.execPath, [program], { cwd: PROJECT });
  return BUNDLES;
}

/** Writes one file, with the time of its source. Another run may do the same, so it is replaced whole. */
async function write(target: string, source: string, { mtime }: Stats): Promise<void> {
  const path = join(COMPILED, target);
  const written = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  const from = join(PROJECT, source);
  writeFileSync(written, isTypeScript(source) ? await compile(from) : readFileSync(from));
  utimesSync(written, mtime, mtime);
  renameSync(written, path);
}

async function compile(path: string): Promise<string> {
  const { transformFile } = await import('@swc/core');
  const { code } = await transformFile(path, {
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript', tsx: path.endsWith('.tsx') },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
      target: 'es2022',
    },
    module: { type: 'commonjs' },
    // Reading a map for each file would take a quarter of a program's start.
    sourceMaps: false,
  });
  return code;
}

/** The files of all rooms, by their paths from the root. */
function filesOf(root: string): Map<string, Stats> {
  const found = new Map<string, Stats>();
  const lockfile = statSync(join(root, LOCKFILE), { throwIfNoEntry: false });
  if (lockfile !== undefined) found.set(LOCKFILE, lockfile);
  for (const room of ROOMS.filter((one) => existsSync(join(root, one)))) {
    for (const name of readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })) {
      const stats = statSync(join(root, room, name), { throwIfNoEntry: false });
      if (stats?.isFile()) found.set(join(room, name), stats);
    }
  }
  return found;
}

function targetOf(source: string): string {
  return isTypeScript(source) ? source.replace(/\.tsx?$/, '.js') : source;
}

function isTypeScript(file: string): boolean {
  return /\.tsx?$/.test(file) && !file.endsWith('.d.ts');
}
