/**
 * A jest reporter whose last line is `N passed, N failed` (and `, N skipped` if any), for
 * scripts to read. It comes after the default reporter in jest.config.js. With FAILED_FILES it
 * writes the paths of the files that failed there, a line each.
 */
const { writeFileSync } = require('node:fs');

class PlainReporter {
  onRunComplete(_contexts, results) {
    const { FAILED_FILES } = process.env;
    if (FAILED_FILES !== undefined) {
      const files = results.testResults.filter(
        (one) => one.numFailingTests > 0 || one.testExecError,
      );
      writeFileSync(FAILED_FILES, files.map(({ testFilePath }) => `${testFilePath}\n`).join(''));
    }
    const skipped = results.numPendingTests + results.numTodoTests;
    // A file that could not be loaded has no tests to count, and is a failure all the same.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const parts = [`${results.numPassedTests} passed`, `${failed} failed`];
    if (skipped > 0) parts.push(`${skipped} skipped`);
    process.stdout.write(`${parts.join(', ')}\n`);
  }
}

module.exports = PlainReporter;
