/** Tests that need a program which npm does not install. */

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
