/** Tests that need a program which npm does not install. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** The environment of Python packages that .ci/run makes. */
const PYTHON = resolve(__dirname, '../../node_modules/.cache/python/bin/python');

/** A Python that has these packages: that of .ci/run, or the machine's. Null: neither has them. */
export function pythonWith(...names: string[]): string | null {
  const look =
    'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))';
  const has = (python: string) => spawnSync(python, ['-c', look, ...names]).status === 0;
  return [PYTHON, 'python3'].find(has) ?? null;
}

/**
 * `describe`, or a skipped one with a loud word about why.
 * @param program its path, or null when it is not installed
 * @param remedy what makes the tests run
 */
export function describeWithProgram(
  program: string | null,
  remedy: string,
  name: string,
  tests: () => void,
): void {
  if (program !== null) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`SKIPPED: ${name}. ${remedy}\n`);
  describe.skip(name, tests);
}
