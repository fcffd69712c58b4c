/**
 * The specification, row by row, against the gateway: its endpoints are those of the router, of the
 * operations and of openapi.json, and each row is shown by a test that names it in its title.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Router from '@koa/router';
import { pino } from 'pino';
import ts from 'typescript';
import { readApiConfig } from '../../src/shell/config';
import { buildDeps, buildServices } from '../../src/shell/deps';
import { createApp } from '../../src/shell/api/app';
import { OPERATIONS } from '../../src/openapi/document';
import { DOCUMENT } from '../support/merchant/contract';
import { ENDPOINTS, isBuilt, REQUIRED_TAGS } from '../support/merchant/contract-rows';

const TESTS = join(__dirname, '..');

const built = ENDPOINTS.filter(isBuilt)
  .map(({ method, path, scope }) => `${method} ${path} ${scope ?? 'any valid key'}`)
  .sort();

test('the operations are the specification’s endpoints, with their scopes', () => {
  const own = OPERATIONS.map(
    ({ method, path, scope }) => `${method.toUpperCase()} ${path} ${scope ?? 'any valid key'}`,
  );
  expect(own.sort()).toEqual(built);
});

test('openapi.json has the specification’s endpoints, with their scopes', () => {
  const documented = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { security } = operation as unknown as { security: [{ bearer: string[] }] };
      return `${method.toUpperCase()} ${path} ${security[0].bearer[0] ?? 'any valid key'}`;
    }),
  );
  expect(documented.sort()).toEqual(built);
});

test('the router has the specification’s endpoints and the document, nothing more', async () => {
  const routes = await routesOfApi();
  const expected = built.map((row) => row.split(' ').slice(0, 2).join(' '));
  expect(routes).toEqual([...expected, 'GET /openapi.json', 'GET /signing_keys'].sort());
});

/** Methods and paths below /api/v1, read from the application as it is built for production. */
async function routesOfApi(): Promise<string[]> {
  const config = readApiConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    KEY_PEPPER: 'the pepper of the tests: long enough',
    CURSOR_SECRET: 'the cursor secret of the tests, long enough',
    WEBHOOK_SECRET_KEY: 'the webhook secret key of the tests, long enough',
  });
  const deps = buildDeps(config, 'test');
  const app = createApp({
    services: buildServices(deps),
    publicUrl: config.publicUrl,
    cursorSecret: config.cursorSecret,
    trustedProxyHops: 0,
    evidenceKey: null,
    earlierPublicKeys: [],
    logger: pino({ level: 'silent' }),
  });
  await deps.close();
  const layers = app.middleware
    .map((middleware) => ('router' in middleware ? middleware.router : null))
    .flatMap((router) => (router instanceof Router ? router.stack : []))
    .filter(({ path }) => String(path).startsWith('/api/v1/'));
  return layers
    .flatMap(({ methods, path }) =>
      methods
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${String(path).slice('/api/v1'.length)}`),
    )
    .map((route) => route.replaceAll(/:([a-z]+)/g, '{$1}'))
    .sort();
}

test('each row of the specification has a test that names it, and no test names another row', () => {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(TESTS, name), 'utf8'));
  const named = new Set(files.flatMap(tagsIn));
  const report = {
    'rows without a test': REQUIRED_TAGS.filter((tag) => !named.has(tag)),
    'tags without a row': [...named].filter((tag) => !REQUIRED_TAGS.includes(tag)),
  };
  expect(report).toEqual({ 'rows without a test': [], 'tags without a row': [] });
});

const open = '[';

test('a tag counts in the title of a test, and nowhere else', () => {
  const text = `
    // ${open}limit in a comment]
    test('one ${open}limit a] ${open}error 409 b]', () => expect('${open}limit in a body]').toBe(1));
    it.each([['${open}limit in a row]']])('two %s ${open}scope c]', () => undefined);
    describe('three ${open}limit of a group]', () => {
      test.concurrent.each(ROWS)(\`four ${open}endpoint GET /x/{id}] [other]\`, () => undefined);
    });
    it.skip('five ${open}limit skipped]', () => undefined);`;
  expect(tagsIn(text).sort()).toEqual([
    'endpoint GET /x/{id}',
    'error 409 b',
    'limit a',
    'scope c',
  ]);
});

const TAG = /\[((?:endpoint|scope|error|limit|idempotency) [^\]]+)\]/g;

/** The tags in the titles of a file's tests. */
function tagsIn(text: string): string[] {
  // Most files have none, and need no parsing.
  if (text.search(TAG) < 0) return [];
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTest(node.expression)) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) {
        found.push(...[...title.text.matchAll(TAG)].map(([, tag]) => tag!));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** `test`, `it`, `test.concurrent`, `it.each(rows)`: what is called with a title and runs. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ['test', 'it'].includes(callee.text);
  if (ts.isPropertyAccessExpression(callee)) {
    return callee.name.text === 'concurrent' && isTest(callee.expression);
  }
  if (!ts.isCallExpression(callee)) return false;
  const each = callee.expression;
  return (
    ts.isPropertyAccessExpression(each) && each.name.text === 'each' && isTest(each.expression)
  );
}
