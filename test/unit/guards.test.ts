/**
 * The list of guards (test/guards) is true: each is where it says, and so is its test. That the test
 * notices its removal is shown by `npm run test:guards`, which takes too long for every run.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../src/db/migrations';
import { SECTIONS } from '../../src/db/migrations/baseline';
import { withoutGuard } from '../guards/guard';
import { drawGuards, GUARDS } from '../guards/table/index';

const ROOT = join(__dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/guards.md');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('each guard is in its file once, and its removal changes the file', () => {
  expect(GUARDS.length).toBeGreaterThan(60);
  for (const guard of GUARDS) {
    const source = read(guard.file);
    expect(withoutGuard(source, guard)).not.toBe(source);
  }
});

test('each guard has a name of its own', () => {
  expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length);
});

test('no guard is in a text of a function that a later migration replaces', () => {
  const functions = (text: string) =>
    [...text.matchAll(/CREATE (?:OR REPLACE )?FUNCTION (\w+)/g)].map(([, name]) => name);
  const sections = Object.entries(SECTIONS).map(([name, sql]) => [`baseline/${name}`, sql]);
  const later = MIGRATIONS.slice(1).flatMap((one) => ('sql' in one ? [[one.name, one.sql]] : []));
  const newest = new Map(
    [...sections, ...later].flatMap(([name, sql = '']) =>
      functions(sql).map((found) => [found, `src/db/migrations/${name}.ts`]),
    ),
  );
  const replaced = GUARDS.filter(({ file, find }) => {
    const [before = ''] = read(file).split(find);
    const name = functions(before).at(-1);
    const body = before.slice(before.lastIndexOf(`FUNCTION ${name}`)).split('$$');
    return newest.has(name) && body.length === 2 && newest.get(name) !== file;
  });
  expect(replaced.map(({ name }) => name)).toEqual([]);
});

test('each guard names a test that exists', () => {
  const missing = GUARDS.filter(
    ({ test: path, title = '' }) => !existsSync(join(ROOT, path)) || !read(path).includes(title),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('docs/guards.md shows the list (UPDATE_DOCS=1 updates it)', () => {
  const written = readFileSync(DOCUMENT, 'utf8');
  const list = /(<!-- generated from test\/guards\/table -->\n)[\s\S]*?(<!-- end -->)/;
  expect(written).toMatch(list);
  const current = written.replace(
    list,
    (_all, begin: string, end: string) => `${begin}\n${drawGuards()}\n\n${end}`,
  );
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(DOCUMENT, current);
  else expect(written).toBe(current);
});
