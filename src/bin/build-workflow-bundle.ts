/**
 * The last step of `npm run build`: bundles the compiled workflows once, so that production workers
 * start without webpack and all workers of a release run the same code.
 *
 * It runs from dist, and the bundle is written there.
 */
import { writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { bundleWorkflows } from '../temporal/worker';

const BUNDLE = resolve(__dirname, '..', '..', 'workflow-bundle.js');
const EXPECTED_PARENT = join('dist', 'src', 'bin');

async function main(): Promise<void> {
  // From the sources, the bundle would be written to the project's folder, where nothing reads it.
  if (!__dirname.endsWith(EXPECTED_PARENT)) {
    throw new Error('Run `npm run build`: the bundle is made from the output of tsc in dist/.');
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
