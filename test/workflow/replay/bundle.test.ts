/** What is in the workflow bundle: pure code. Workflows are replayed, so nothing else may be. */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';

/** webpack heads each module with its path. */
const MODULE_HEAD = /^\/\*\*\*\/ "([^"]+)"/gm;

/** Our modules are compiled files there (src/dev/compile.ts). */
const COMPILED = /^.*\.cache\/gateway\/dist\/(?!node_modules)/;

function listModules(): string[] {
  const code = readFileSync(process.env['TEST_WORKFLOW_BUNDLE'] ?? '', 'utf8');
  return [...code.matchAll(MODULE_HEAD)].map(([, path = '']) => path.replace(COMPILED, './'));
}

test('of ours, the bundle has the workflows and the domain only', () => {
  const ours = listModules().filter((path) => !path.includes('node_modules'));
  const rooms = ours.filter((path) => /^\.\/(src|workflows|activities|test)\//.test(path));
  expect(rooms).toEqual(
    expect.arrayContaining(['./workflows/payout.js', './src/domain/payout.js']),
  );
  const strangers = rooms.filter((path) => !/^\.\/(workflows|src\/domain)\//.test(path));
  expect(strangers).toEqual([]);
});

/** The SDK, what it brings, and the one package that src/domain may use. */
const ALLOWED = ['@temporalio/common', '@temporalio/workflow', 'nexus-rpc', 'ms', 'long'];

test('of packages, it has the SDK and decimal.js at most', () => {
  const packages = new Set(
    listModules().flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
  expect(packages).toContain('@temporalio/workflow');
  const allowed = new Set([...ALLOWED, 'decimal.js']);
  expect([...packages].filter((name) => !allowed.has(name))).toEqual([]);
});

test('of Node, it has nothing', () => {
  const names = builtinModules.flatMap((name) => [name, `node:${name}`]);
  const modules = new Set(listModules().map((path) => path.replace(/^external "?|"$/g, '')));
  expect(names.filter((name) => modules.has(name))).toEqual([]);
});
