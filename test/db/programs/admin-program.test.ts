/** The admin program: its output, its exit codes, its environment. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../../../src/db/provision';
import { seedDevelopment } from '../../../src/dev/prepare-database';
import { hashApiKey } from '../../../src/platform/lib/api-key-secret';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { findFreePort } from '../../../src/dev/ports';
import { runAdmin } from '../../../src/shell/admin/admin';
import { forkProgram, runProgram } from '../../support/servers/programs';

const LOCAL_PEPPER = 'the pepper in the local secrets file';

let database: TestDatabase;
let empty: TestDatabase;
let folder: string;

beforeAll(async () => {
  [database, empty] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await seedDevelopment({ ownerUrl: database.ownerUrl, pepper: LOCAL_PEPPER });
  folder = mkdtempSync(join(tmpdir(), 'admin-'));
  writeFileSync(join(folder, 'dev.json'), JSON.stringify({ postgres_url: database.ownerUrl }));
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ KEY_PEPPER: LOCAL_PEPPER }));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([database.drop(), empty.drop()]);
});

const admin = (args: string[], env: Record<string, string> = {}) =>
  runProgram(runAdmin, args, { GATEWAY_DATA_DIR: folder, ...env });

test('in development it finds the database, the demo merchant and the pepper by itself', async () => {
  const { code, stdout, stderr } = await admin(
    ['keys', 'create', '--mode', 'test', '--scopes', 'all', '--json'],
    {},
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const key = JSON.parse(stdout);
  expect(key).toMatchObject({
    id: expect.stringMatching(/^key_/),
    secret: expect.stringMatching(/^sk_test_/),
  });
  const { rows } = await withClient(database.ownerUrl, (client) =>
    client.query(
      'SELECT k.secret_hash, a.name FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.id = $1',
      [key.id],
    ),
  );
  expect(rows).toEqual([
    { secret_hash: hashApiKey(key.secret, LOCAL_PEPPER), name: 'Demo merchant' },
  ]);
});

test('the OS user is who did it, unless --by says otherwise', async () => {
  await admin(['accounts', 'create', '--name', 'By the user']);
  await admin(['accounts', 'create', '--name', 'By Alice', '--by', 'alice']);
  const { stdout } = await admin(['audit', 'list', '--action', 'account.create', '--json']);
  expect(JSON.parse(stdout).data).toMatchObject([{ by: 'alice' }, { by: userInfo().username }]);
});

test('what a person reads is an aligned table', async () => {
  const { code, stdout } = await admin(['limits', 'list']);
  expect(code).toBe(0);
  const [head = '', first = ''] = stdout.split('\n');
  expect(head).toMatch(/^CURRENCY +PER_TRANSACTION +/);
  expect(first.indexOf('1.00000000')).toBe(head.indexOf('PER_TRANSACTION'));
});

test.each<[string[], Record<string, string>, number, RegExp]>([
  [[], {}, 2, /^Usage: .*accounts.*keys.*Examples:/s],
  [['key'], {}, 2, /unknown command 'key'\s+\(Did you mean keys\?/],
  [['constructor', 'x'], {}, 2, /unknown command 'constructor'/],
  [['keys'], {}, 2, /^Usage: .* keys <verb>.*create.*list/s],
  [['keys', 'make'], {}, 2, /unknown command 'make'/],
  [['keys', 'list', '--acount', 'x'], {}, 2, /'--acount'\s+\(Did you mean --account\?.*--help/s],
  [['keys', 'create', '--scope', 'all'], {}, 2, /'--mode <MODE>' not specified.*--help/s],
  [['keys', 'list', '--account', 'acc_x'], {}, 1, /acc_x does not exist/],
  [
    ['keys', 'list'],
    { DATABASE_OWNER_URL: 'mysql://x' },
    1,
    /must be a URL starting with postgres:/,
  ],
  [['keys', 'list'], { GATEWAY_DATA_DIR: '/nowhere' }, 1, /npm start.*set DATABASE_OWNER_URL/],
  [['keys', 'list'], { GATEWAY_ENV: 'production' }, 1, /DATABASE_OWNER_URL is not set/],
])('%j %j ends with %i and says why', async (args, env, code, reason) => {
  const ended = await admin(args, env);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toMatch(reason);
  expect(ended.stderr).not.toContain('    at ');
});

test('production has no demo merchant and no pepper of its own', async () => {
  const env = { GATEWAY_ENV: 'production', DATABASE_OWNER_URL: database.ownerUrl };
  const noAccount = await admin(['keys', 'list'], env);
  expect(noAccount).toMatchObject({ code: 2, stdout: '' });
  expect(noAccount.stderr).toContain('--account is missing');
  const create = ['keys', 'create', '--mode', 'test', '--scopes', 'all', '--account', 'acc_x'];
  expect((await admin(create, env)).stderr).toContain('KEY_PEPPER is not set');
  const short = await admin(create, { ...env, KEY_PEPPER: 'short' });
  expect(short.stderr).toContain('KEY_PEPPER is too short');
});

test('the local pepper is not used for another database', async () => {
  const env = { DATABASE_OWNER_URL: empty.ownerUrl };
  const ended = await admin(['keys', 'create', '--mode', 'test', '--scopes', 'all'], env);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('KEY_PEPPER is not set');
});

test('it says when the database does not answer, or lacks a migration', async () => {
  const url = `postgres://nobody@localhost:${await findFreePort()}/gateway`;
  const gone = await admin(['accounts', 'list'], { DATABASE_OWNER_URL: url });
  expect(gone).toMatchObject({ code: 1, stdout: '' });
  expect(gone.stderr).toContain('ECONNREFUSED');
  await withClient(empty.ownerUrl, (client) =>
    client.query("DELETE FROM schema_migrations WHERE name = '0120-baseline'"),
  );
  const old = await admin(['accounts', 'list'], { DATABASE_OWNER_URL: empty.ownerUrl });
  expect(old).toMatchObject({ code: 1, stdout: '' });
  expect(old.stderr).toMatch(/lacks the migrations 0120-baseline\. Run `npm run migrate`/);
});

test('--help explains the program, a noun and a verb, without a database', async () => {
  const env = { GATEWAY_DATA_DIR: '/nowhere' };
  const program = await admin(['--help'], env);
  expect(program).toMatchObject({ code: 0, stderr: '' });
  expect(program.stdout).toMatch(/^Usage: npm run -s admin -- <noun>.*Examples:.*Exit codes: 0/s);
  const noun = await admin(['keys', '--help'], env);
  expect(noun.stdout).toMatch(/^Usage: .* keys <verb>.*rotate.*Examples:/s);
  const verb = await admin(['keys', 'rotate', '--help'], env);
  expect(verb.stdout).toMatch(/^Usage: .* keys rotate .*--json.*--by <NAME>.*Examples:/s);
});

// This runs as a process: the file starts, reads its environment and sets its exit code.
test.each<[string[], number, 'stdout' | 'stderr', RegExp]>([
  [['limits', 'list', '--json'], 0, 'stdout', /"object": "list"/],
  [['keys', 'list', '--account', 'acc_x'], 1, 'stderr', /acc_x does not exist/],
])('the program %j ends with %i', async (args, code, stream, text) => {
  const ended = await forkProgram('admin', args, { GATEWAY_DATA_DIR: folder });
  expect(ended).toMatchObject({ code, [stream === 'stdout' ? 'stderr' : 'stdout']: '' });
  expect(ended[stream]).toMatch(text);
});
