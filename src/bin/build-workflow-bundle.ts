/**
 * The last step of `npm run build`: bundles the compiled workflows once, the gateway's and the
 * wallet's, so that production starts without webpack and all workers of a release run the same code.
 * `npm start` and the tests run it on what src/dev/compile.ts has compiled.
 *
 * It runs from dist, and the bundle is written there.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { bundleWorkflows } from '../temporal/worker';
import { bundleWalletWorkflows } from '../rails/wallet/durable/workers';

const DIST = resolve(__dirname, '..', '..');
const EXPECTED_PARENT = join('dist', 'src', 'bin');

async function main(): Promise<void> {
  // When it is run from the sources, the bundle would be written to the project's folder, where nothing
  // reads it.
  if (!__dirname.endsWith(EXPECTED_PARENT)) {
    throw new Error('Run `npm run build`: the bundle is made from the output of tsc in dist/.');
  }
  await write('workflow-bundle.js', bundleWorkflows());
  await write('wallet-workflow-bundle.js', bundleWalletWorkflows());
}

async function write(name: string, bundle: Promise<{ code: string }>): Promise<void> {
  const { code } = await bundle;
  const path = join(DIST, name);
  // A reader finds the whole bundle or none.
  writeFileSync(`${path}.${process.pid}`, code);
  renameSync(`${path}.${process.pid}`, path);
  const kibibytes = Math.round(Buffer.byteLength(code) / 1024);
  process.stdout.write(`${relative(process.cwd(), path)}: ${kibibytes} KiB\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
