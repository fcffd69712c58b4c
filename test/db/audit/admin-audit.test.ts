/** The audit log: it can be read and added to, and nothing else. */
import { Admin, auditRows } from '../admin-harness';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';
import { compose } from '../../support/servers/database';

const harness = started(startHarness);
let admin: Admin;

beforeAll(async () => {
  admin = new Admin(harness.database.adminUrl);
  await admin.json('accounts', 'create', '--name', 'First', '--by', 'alice');
});

const CHANGES = [
  "UPDATE audit_log SET actor = 'nobody'",
  'DELETE FROM audit_log',
  'TRUNCATE audit_log',
];

test.each(CHANGES)('the owner of the schema cannot: %s', async (sql) => {
  const before = await auditRows(harness.owner);
  expect(before).not.toEqual([]);
  await expect(harness.owner.query(sql)).rejects.toThrow('the audit log is append-only');
  expect(await auditRows(harness.owner)).toEqual(before);
});

test.each(CHANGES)('the application may not even try: %s', async (sql) => {
  await expect(harness.db.query(sql)).rejects.toThrow('permission denied');
});

test('the application may add to it and read it', async () => {
  await harness.db.query(
    `INSERT INTO audit_log (actor, action, object, object_id) VALUES ('console', 'x', 'y', 'z')`,
  );
  expect(await auditRows(harness.db, 'z')).toMatchObject([{ actor: 'console' }]);
});

test('a row without a name of who did it cannot be', async () => {
  const sql = `INSERT INTO audit_log (actor, action, object, object_id) VALUES ('', 'x', 'y', 'z')`;
  await expect(harness.owner.query(sql)).rejects.toThrow('audit_log_actor_check');
});

test('a change whose audit row cannot be written is not made', async () => {
  await harness.owner.query(
    `ALTER TABLE audit_log ADD CONSTRAINT no_mallory CHECK (actor <> 'mallory')`,
  );
  const args = ['accounts', 'create', '--name', 'Unaudited', '--by', 'mallory'];
  const sentence = await admin.refusal(1, ...args);
  expect(sentence).toMatch(/^The database refused the change: .*no_mallory/);
  expect(await harness.owner.query(compose('accounts').where({ name: 'Unaudited' }))).toEqual([]);
  await harness.owner.query('ALTER TABLE audit_log DROP CONSTRAINT no_mallory');
});

test('the list is newest first and narrows to object, account, action, person and time', async () => {
  const account = await admin.json('accounts', 'create', '--name', 'Second', '--by', 'bob');
  const key = await admin.json(
    ...['keys', 'create', '--account', account.id, '--mode', 'test', '--scopes', 'all'],
    ...['--by', 'carol', '--reason', 'asked by mail'],
  );
  const list = async (...options: string[]) =>
    (await admin.list('audit', 'list', ...options)).map(({ id }) => id ?? '');
  const [newest = '', older = ''] = await list();
  expect(await list('--object', key.id)).toEqual([newest]);
  expect(await list('--account', account.id)).toEqual([newest, older]);
  expect(await list('--account', account.id, '--action', 'account.create')).toEqual([older]);
  expect(await list('--actor', 'bob')).toEqual([older]);
  expect(await list('--since', '2999-01-01')).toEqual([]);
  expect((await list('--before', older))[0]).not.toBe(older);
  expect(await list('--limit', '1', '--before', newest)).toEqual([older]);
  const [entry] = (await admin.json('audit', 'list', '--object', key.id)).data;
  expect(entry).toMatchObject({
    by: 'carol',
    at: expect.stringMatching(/Z$/),
    action: 'api_key.create',
    object: 'api_key',
    object_id: key.id,
    account_id: account.id,
    before: null,
    after: { id: key.id, requests_per_minute: 120 },
    reason: 'asked by mail',
  });
  const shown = await admin.run('audit', 'list', '--object', key.id);
  expect(shown.stdout).toMatch(/carol +api_key.create +key_\w+ +asked by mail/);
});

test.each<[string[], RegExp]>([
  [['--before', 'x'], /'--before <ID>' argument 'x' is invalid.*id of an entry/],
  [['--since', 'yesterday'], /'--since <TIME>' argument 'yesterday' is invalid.*ISO 8601/],
  [['--limit', '10001'], /'--limit <N>' argument '10001'.*1 to 10000/],
])('%j is refused', async (args, sentence) => {
  expect(await admin.refusal(2, 'audit', 'list', ...args)).toMatch(sentence);
});
