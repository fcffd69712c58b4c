/** The programs for the terminal: their output, and the exit codes that scripts rely on. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDevFund } from '../../../src/bin/dev-fund';
import { runLedgerVerify } from '../../../src/bin/ledger-verify';
import { runMigrate } from '../../../src/bin/migrate';
import { runReset } from '../../../src/bin/reset';
import { withClient } from '../../../src/db/provision';
import { seedDevelopment } from '../../../src/dev/prepare-database';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { findFreePort } from '../../../src/dev/ports';
import { forkProgram, runProgram } from '../../support/servers/programs';

const PROGRAMS = {
  'dev-fund': runDevFund,
  'ledger-verify': runLedgerVerify,
  migrate: runMigrate,
  reset: runReset,
};
type Name = keyof typeof PROGRAMS;
const FUNDING = ['--currency=USDT', '--amount=5'];

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await seedDevelopment({ ownerUrl: database.ownerUrl, pepper: 'a pepper for tests' });
  folder = mkdtempSync(join(tmpdir(), 'programs-'));
  writeFileSync(join(folder, 'dev.json'), JSON.stringify({ postgres_url: database.ownerUrl }));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

test('money comes in, the balance is printed, and the ledger verifies', async () => {
  const funded = await run('dev-fund', [
    '--currency',
    'USDT',
    '--amount',
    '1000',
    '--mode',
    'test',
  ]);
  expect(funded).toEqual({
    code: 0,
    stdout: 'Demo merchant, test mode: 1000.00000000 USDT available, 0.00000000 reserved\n',
    stderr: '',
  });
  const again = await run('dev-fund', ['--currency=USDT', '--amount=0.00000001']);
  expect(again.stdout).toContain('1000.00000001 USDT available');

  const verified = await run('ledger-verify');
  expect(verified).toMatchObject({ code: 0, stderr: '' });
  expect(verified.stdout).toMatch(/^ok +1 {2}transactions are balanced: 2 transactions checked$/m);
  expect(verified.stdout).toMatch(/ledger verified: all 11 invariants hold\n$/);
  const json = JSON.parse((await run('ledger-verify', ['--json'])).stdout);
  expect(json).toMatchObject({ ok: true });
  expect(json.invariants).toHaveLength(13);
  // Nobody has read a provider’s statement here, and there is no Temporal.
  expect(verified.stdout).toMatch(
    /^- +8 {2}.*: not checked, some statements have not been read yet/m,
  );
  expect(verified.stdout).toMatch(/^- +12 {2}.*: not checked, TEMPORAL_ADDRESS is not set$/m);
});

test('the ledger verifies where nothing can be written, as on a standby', async () => {
  const standby = await createTestDatabase();
  await withClient(standby.ownerUrl, async (client) => {
    await client.query(`ALTER DATABASE ${standby.name} SET default_transaction_read_only = on`);
  });
  const verified = await run('ledger-verify', [], { DATABASE_URL: standby.workerUrl });
  await standby.drop();
  expect(verified).toMatchObject({ code: 0, stderr: '' });
  expect(verified.stdout).toMatch(/ledger verified: all 11 invariants hold\n$/);
});

test('a login that may not read the proof is told so, without the statement', async () => {
  expect(await run('ledger-verify', [], { DATABASE_URL: database.apiUrl })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'The ledger was not checked: permission denied for table ledger_checkpoints\n',
  });
});

test('a broken ledger is told with its rows, and exit code 1', async () => {
  const broken = await createTestDatabase();
  await withClient(broken.ownerUrl, (client) =>
    client.query("INSERT INTO balances VALUES ('acc_x', 'test', 'USDT', 5, 0, 1, now())"),
  );
  const env = { DATABASE_URL: broken.appUrl };
  const shown = await run('ledger-verify', [], env);
  expect(shown.code).toBe(1);
  expect(shown.stdout).toMatch(/^BROKEN +2 .*violations: 1$/m);
  expect(shown.stdout).toContain('"account_id":"acc_x"');
  expect(shown.stdout).toMatch(/ledger BROKEN: 2 of 11 invariants do not hold\n$/);
  const json = await run('ledger-verify', ['--json'], env);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout).ok).toBe(false);
  await broken.drop();
});

test.each<[Name, string[], Record<string, string>, number, RegExp]>([
  ['dev-fund', ['--amount', '5'], {}, 2, /'--currency <CODE>' not specified/],
  ['dev-fund', ['--currency', 'USDT'], {}, 2, /'--amount <AMOUNT>' not specified/],
  ['dev-fund', ['--currency', 'USDT', '--amount', '0'], {}, 2, /--amount: 0 is not a valid amount/],
  ['dev-fund', ['--currency', 'USDT', '--amount=-5'], {}, 2, /--amount: -5 is not a valid amount/],
  ['dev-fund', ['--currency', 'USDT', '--amount', '1e3'], {}, 2, /is not a valid amount/],
  [
    'dev-fund',
    ['--currency', 'USDT', '--amount', '0.000000001'],
    {},
    2,
    /8 after the decimal point/,
  ],
  [
    'dev-fund',
    ['--currency', 'usdt', '--amount', '5'],
    {},
    2,
    /not a supported currency.*BTC, ETH, USDC, USDT, XRP/,
  ],
  [
    'dev-fund',
    ['--currency=USDT', '--amount=5', '--mode=prod'],
    {},
    2,
    /'prod' is invalid. Allowed choices are test, live/,
  ],
  ['dev-fund', ['--curency=USDT'], {}, 2, /--currency.*--help/s],
  ['dev-fund', [...FUNDING, '--mod', 'test'], {}, 2, /'--mod'.*Did you mean --mode.*--help/s],
  ['dev-fund', [...FUNDING, 'USDT'], {}, 2, /too many arguments/],
  ['reset', ['--all'], {}, 2, /--all/],
  [
    'dev-fund',
    ['--currency=USDT', '--amount=5'],
    { GATEWAY_ENV: 'production' },
    1,
    /refuses to run in production/,
  ],
  [
    'dev-fund',
    ['--currency=USDT', '--amount=5'],
    { GATEWAY_DATA_DIR: '/nowhere' },
    1,
    /run `npm start`/,
  ],
  ['ledger-verify', [], { GATEWAY_DATA_DIR: '/nowhere' }, 2, /set DATABASE_URL/],
  ['ledger-verify', ['--jsn'], {}, 2, /--jsn/],
  ['migrate', [], {}, 1, /DATABASE_OWNER_URL is not set/],
  ['migrate', [], { DATABASE_OWNER_URL: 'mysql://x' }, 1, /must be a URL starting with postgres:/],
  ['migrate', ['--down'], {}, 2, /--down/],
])('%s %j %j ends with %i and says why', async (program, args, env, code, reason) => {
  const result = await run(program, args, env);
  expect(result).toMatchObject({ code, stdout: '' });
  expect(result.stderr).toMatch(reason);
  // A sentence for a person, not a stack.
  expect(result.stderr).not.toContain('    at ');
});

test.each([
  ['ledger-verify', 'DATABASE_URL', 2],
  ['migrate', 'DATABASE_OWNER_URL', 1],
] as const)('%s says when the database does not answer', async (program, variable, code) => {
  const url = `postgres://nobody@localhost:${await findFreePort()}/gateway`;
  const result = await run(program, [], { [variable]: url });
  expect(result).toMatchObject({ code, stdout: '' });
  expect(result.stderr).toContain('ECONNREFUSED');
});

test('migrate says that nothing is left to do', async () => {
  expect(await run('migrate', [], { DATABASE_OWNER_URL: database.ownerUrl })).toEqual({
    code: 0,
    stdout: 'the schema is up to date\n',
    stderr: '',
  });
});

test.each(Object.keys(PROGRAMS) as Name[])('%s --help explains itself', async (program) => {
  const { code, stdout } = await run(program, ['--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: npm run .*Exit codes: 0/s);
});

// These run as processes: the files start, read their environment and set their exit code.
test.each<[Name, string[], number, 'stdout' | 'stderr', RegExp]>([
  ['dev-fund', ['--currency=USDT', '--amount=1', '--mode=live'], 0, 'stdout', /1.0{8} USDT/],
  ['ledger-verify', ['--jsn'], 2, 'stderr', /--jsn/],
  ['migrate', [], 1, 'stderr', /DATABASE_OWNER_URL is not set/],
])('the program %s %j ends with %i', async (name, args, code, stream, reason) => {
  const ended = await forkProgram(name, args, { GATEWAY_DATA_DIR: folder });
  expect(ended).toMatchObject({ code, [stream === 'stdout' ? 'stderr' : 'stdout']: '' });
  expect(ended[stream]).toMatch(reason);
});

test.each(['api', 'wallet'])('%s refuses an unknown LOG_LEVEL', async (name) => {
  const { code, stderr } = await forkProgram(name, [], { LOG_LEVEL: 'loud' });
  expect(code).toBe(1);
  expect(stderr).toContain('LOG_LEVEL must be one of: trace, debug, info, warn, error, silent.');
  expect(stderr).not.toContain('    at ');
});

function run(program: Name, args: string[] = [], env: Record<string, string> = {}) {
  return runProgram(PROGRAMS[program], args, { GATEWAY_DATA_DIR: folder, ...env });
}
