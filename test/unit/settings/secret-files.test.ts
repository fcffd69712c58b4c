/** A secret can be in a file; the variable with _FILE names it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSecretFiles } from '../../../src/platform/settings/secret-files';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
  file = join(folder, 'secret');
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test.each([
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DASHBOARD_DATABASE_URL',
  'KEY_PEPPER',
  'CURSOR_SECRET',
  'WEBHOOK_SECRET_KEY',
  'WEBHOOK_SECRET_KEYS_EARLIER',
  'ONCHAIN_LIVE_API_KEY',
  'EXCHANGE_PAY_TEST_CALLBACK_SECRET',
])('%s', (name) => {
  writeFileSync(file, 'what the file says \n');
  expect(withSecretFiles({ [`${name}_FILE`]: file, PORT: '1' })[name]).toBe('what the file says ');
});

test('a variable of another name is kept as it is', () => {
  const env = { PORT_FILE: file, PORT: '1', _FILE: file };
  expect(withSecretFiles(env)).toEqual(env);
});

test('an empty variable is not set: compose passes ${X:-}', () => {
  const env = { KEY_PEPPER: 'from the environment', KEY_PEPPER_FILE: '' };
  expect(withSecretFiles(env)).toEqual(env);
  writeFileSync(file, 'from the file');
  expect(withSecretFiles({ KEY_PEPPER: '', KEY_PEPPER_FILE: file })).toMatchObject({
    KEY_PEPPER: 'from the file',
  });
});

test('a secret that is set twice', () => {
  expect(() => withSecretFiles({ KEY_PEPPER: 'one', KEY_PEPPER_FILE: file })).toThrow(
    'KEY_PEPPER and KEY_PEPPER_FILE are both set. Remove one of them.',
  );
});

test('a file that does not exist', () => {
  const missing = join(folder, 'missing');
  expect(() => withSecretFiles({ KEY_PEPPER_FILE: missing })).toThrow(
    `KEY_PEPPER_FILE: ${missing} cannot be read (ENOENT). Set it to a file that this process may read.`,
  );
});
