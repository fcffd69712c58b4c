/**
 * The environment of every test file. jest waits half a second for its workers to end, and calls a longer
 * end a leak; on a busy machine the heap of a worker, half a gigabyte, takes longer to be taken down.
 */
const { TestEnvironment } = require('jest-environment-node');

// The process has nothing left to do when it comes here by itself.
if (process.send) process.once('exit', () => process.kill(process.pid, 'SIGKILL'));

module.exports = TestEnvironment;
