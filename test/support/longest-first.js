/**
 * The order of the test files: those that probably take longest begin, so that no worker is left with a long one at
 * the end. jest itself knows no lengths in a fresh clone, and the file of a room says nothing of its parts.
 */
const { basename, dirname } = require('node:path');
const { readdirSync, statSync } = require('node:fs');

/** How long a line of these takes, compared with a line of the other projects. */
const WEIGHTS = { browser: 10, e2e: 3, workflow: 3 };

function weightOf({ path, context }) {
  const files = basename(path) === 'room.ts' ? partsOf(dirname(path)) : [path];
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return bytes * (WEIGHTS[context.config.displayName?.name] ?? 1);
}

const partsOf = (folder) => readdirSync(folder).map((name) => `${folder}/${name}`);

module.exports = class LongestFirst {
  sort(tests) {
    return tests.toSorted((a, b) => weightOf(b) - weightOf(a));
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
};
