/**
 * The projects differ in what they need: `unit` and `sandbox` nothing, `db` PostgreSQL, `wallet` also an EVM node, `workflow` and
 * `e2e` also a Temporal server, `browser` a Chromium too. `npm test` leaves three of them out, which
 * `npm run test:slow` runs (CI runs ten files of them, `test/faults.txt`): `wallet` has chains of its own, `crash` lets steps, processes, servers and providers fail and waits
 * for the recovery, and `start` starts the product as its documentation says. Servers start only for
 * the projects of the selected files. `*.long.test.ts` are deep and slow: they run with `npm run test:long`, or by name.
 *
 * jest loads every module again for each of its files, so the files of a folder run as one, by its `room.ts`. A file
 * that the command line names runs alone: `npx jest --runTestsByPath test/db/ledger/ledger.test.ts`.
 */
const { existsSync, readdirSync } = require('node:fs');
const { availableParallelism } = require('node:os');

const namesFiles = process.argv.some((argument) => argument.endsWith('.test.ts'));
const runsLong = namesFiles || process.env.TEST_SCALE === 'long';

function filesOf(name) {
  const folder = `<rootDir>/test/${name}`;
  const rooms = `${folder}/*/room.ts`;
  if (namesFiles) return [`${folder}/**/*.test.ts`, rooms];
  for (const one of readdirSync(`${__dirname}/test/${name}`, { withFileTypes: true })) {
    const room = `test/${name}/${one.name}/room.ts`;
    if (one.isDirectory() && !existsSync(`${__dirname}/${room}`)) {
      throw new Error(`The tests beside ${room} would not run, because it does not exist.`);
    }
  }
  return [`${folder}/*.test.ts`, rooms];
}

const swc = (parser) => [
  '@swc/jest',
  {
    jsc: {
      parser: { syntax: 'typescript', ...parser },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
      target: 'es2022',
    },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];

function project(name, options = {}) {
  return {
    displayName: name,
    rootDir: __dirname,
    testEnvironment: '<rootDir>/test/support/jest-environment.js',
    runtime: '<rootDir>/test/support/jest-runtime.js',
    testMatch: filesOf(name),
    testPathIgnorePatterns: runsLong ? [] : ['\\.long\\.test\\.ts$'],
    transform: { '^.+\\.[cm]?[jt]s$': swc({}), '^.+\\.tsx$': swc({ tsx: true }) },
    // These are ES modules, which jest cannot load as they are.
    transformIgnorePatterns: [
      '/node_modules/(?!typebox/|marked/|preact|@noble/|@scure/|@seriousme/|openid-client/|oauth4webapi/|jose/|oidc-provider/)',
    ],
    modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.gateway/'],
    ...options,
  };
}

const withPostgres = {
  moduleNameMapper: { '^@node-rs/argon2$': '<rootDir>/test/support/quick-argon2.ts' },
  globalSetup: '<rootDir>/test/support/servers/setup-postgres.ts',
  globalTeardown: '<rootDir>/test/support/servers/global-teardown.ts',
};
const withAll = { ...withPostgres, globalSetup: '<rootDir>/test/support/servers/setup-all.ts' };
/** Their tests stop no worker, so that a client may wait for one (test/support/merchant/merchant-client.ts). */
const withAllRunning = { ...withAll, globals: { allWorkersRun: true } };

module.exports = {
  projects: [
    project('unit'),
    project('sandbox'),
    project('db', withPostgres),
    project('wallet', withPostgres),
    project('workflow', withAll),
    project('e2e', withAllRunning),
    project('browser', withAllRunning),
    project('crash', withAll),
    project('start', withAll),
  ],
  // For all projects: jest heeds it here alone. Longer than every wait in the tests, which say what
  // they waited for in vain.
  testTimeout: 300_000,
  // Files wait for the servers a third of their time, so that more workers than two pay on two cores.
  maxWorkers: Math.max(3, Math.floor(availableParallelism() / 2)),
  // Tests in one file that wait for the gateway wait side by side (`test.concurrent`).
  maxConcurrency: 6,
  testSequencer: '<rootDir>/test/support/longest-first.js',
  reporters: ['default', '<rootDir>/test/support/plain-reporter.js'],
};
