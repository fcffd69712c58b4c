import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSecrets } from '../../../src/dev/environment';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  path = join(folder, 'secrets.json');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('secrets are generated once, kept, and readable by their owner only', () => {
  const first = loadSecrets(path, {});
  expect(loadSecrets(path, {})).toEqual(first);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length);
  for (const secret of Object.values(first))
    expect(secret).toMatch(/^development-only-[0-9a-f]{64}$/);
});

test('a missing secret is added and the others stay', () => {
  const { CURSOR_SECRET, ...others } = loadSecrets(path, {});
  writeFileSync(path, JSON.stringify(others));
  const later = loadSecrets(path, {});
  expect(later).toMatchObject(others);
  expect(later['CURSOR_SECRET']).not.toBe(CURSOR_SECRET);
});

test('the environment takes precedence and is not stored', () => {
  const first = loadSecrets(path, {});
  expect(loadSecrets(path, { KEY_PEPPER: 'given' })['KEY_PEPPER']).toBe('given');
  expect(loadSecrets(path, {})).toEqual(first);
});

test('a damaged file is rejected with a remedy', () => {
  writeFileSync(path, '{');
  expect(() => loadSecrets(path, {})).toThrow(/is damaged.*npm run reset/);
});
