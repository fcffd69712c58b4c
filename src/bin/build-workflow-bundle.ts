/**
 * The second half of `npm run build`: bundles the compiled workflows once, so that a worker in
 * production starts without webpack and every worker of a release runs the same code.
 *
 * Run from dist: the bundle is written beside the compiled rooms.
 */
import { writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { bundleWorkflows } from '../temporal/worker';

const BUNDLE = resolve(__dirname, '..', '..', 'workflow-bundle.js');
const EXPECTED_PARENT = join('dist', 'src', 'bin');

async function main(): Promise<void> {
  // From the sources it would land in the project's folder, where nothing looks for it.
  if (!__dirname.endsWith(EXPECTED_PARENT)) {
    throw new Error('run `npm run build`: the bundle is made of what tsc wrote to dist/');
  }
  const { code } = await bundleWorkflows();
  writeFileSync(BUNDLE, code);
  const kibibytes = Math.round(Buffer.byteLength(code) / 1024);
  process.stdout.write(`${relative(process.cwd(), BUNDLE)}: ${kibibytes} KiB\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
