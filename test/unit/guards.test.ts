/**
 * The list of guards (test/guards) is true: each is where it says, and so is its test. That the test
 * notices its removal is shown by `npm run test:guards`, which takes too long for every run.
 * test/db/database/guards.test.ts has those of the database.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARDS, isOfDatabase, readSources, withoutGuard } from '../guards/guard';

const ROOT = join(__dirname, '../..');

test('each guard of the source is there once', () => {
  expect(GUARDS.length).toBeGreaterThan(400);
  const sources = readSources();
  const faults = GUARDS.flatMap(({ changes }) => changes)
    .filter((change) => !isOfDatabase(change))
    .flatMap((change) => {
      try {
        const { path, text } = withoutGuard(sources, change);
        return text === sources.read(path) ? [`${change.find} is replaced by itself`] : [];
      } catch (error) {
        return [String(error)];
      }
    });
  expect(faults).toEqual([]);
});

test('each guard has a name of its own', () => {
  expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length);
});

test('each guard names a test that exists', () => {
  const missing = GUARDS.filter(({ test: path, title }) => {
    const file = join(ROOT, path);
    return !existsSync(file) || !readFileSync(file, 'utf8').includes(title);
  });
  expect(missing.map(({ name }) => name)).toEqual([]);
});
