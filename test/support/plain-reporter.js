/**
 * A jest reporter whose last line is `N passed, N failed` (and `, N skipped` if any), for
 * scripts to read. It comes after the default reporter in jest.config.js.
 */
class PlainReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    // A file that could not be loaded has no tests to count, and is a failure all the same.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const parts = [`${results.numPassedTests} passed`, `${failed} failed`];
    if (skipped > 0) parts.push(`${skipped} skipped`);
    process.stdout.write(`${parts.join(', ')}\n`);
  }
}

module.exports = PlainReporter;
