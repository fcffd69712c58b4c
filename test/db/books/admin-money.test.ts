/** Adjustments by the admin command: each posts once, and the ledger stays sound. */
import { verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { listBalances } from '../../../src/db/ledger/ledger';
import { newId } from '../../../src/platform/lib/new-id';
import { Admin, auditRows, withOptions } from '../admin-harness';
import { startHarness } from '../http-harness';
import { whenWaiting } from '../lock-waits';
import { started } from '../../support/started';

const harness = started(startHarness);
let admin: Admin;
let account: string;

beforeAll(async () => {
  admin = new Admin(harness.database.adminUrl);
});

beforeEach(async () => {
  account = await harness.createAccount();
});

const adjustment = (amount: string, direction = 'in', ...changed: string[]) => {
  const head = ['adjustments', 'create', '--account', account, '--currency', 'USDT'];
  const rest = ['--amount', amount, '--direction', direction, '--reason', 'ticket 812'];
  return withOptions([...head, ...rest], changed);
};
const available = async (mode: 'test' | 'live' = 'test') =>
  (await listBalances(harness.db, account, mode)).map((balance) => balance.available);

test('money comes in and goes out, with an audit row each', async () => {
  const added = await admin.json(...adjustment('1000'));
  expect(added).toEqual({
    id: expect.stringMatching(/^adj_/),
    object: 'adjustment',
    account_id: account,
    mode: 'test',
    currency: 'USDT',
    direction: 'in',
    amount: '1000.00000000',
    reason: 'ticket 812',
    replayed: false,
    available: '1000.00000000',
    reserved: '0.00000000',
  });
  const taken = await admin.json(...adjustment('0.00000001', 'out', '--by', 'alice'));
  expect(taken.available).toBe('999.99999999');
  expect(await auditRows(harness.owner, taken.id)).toEqual([
    {
      actor: 'alice',
      action: 'adjustment.create',
      object: 'adjustment',
      objectId: taken.id,
      accountId: account,
      before: null,
      after: {
        id: taken.id,
        account_id: account,
        mode: 'test',
        currency: 'USDT',
        direction: 'out',
        amount: '0.00000001',
      },
      reason: 'ticket 812',
    },
  ]);
  await admin.json(...adjustment('5', 'in', '--mode', 'live'));
  expect(await available('live')).toEqual(['5.00000000']);
});

test('with its id the same command posts once, however often and at once', async () => {
  const id = newId('adjustment');
  const command = adjustment('10', 'in', '--operation-id', id);
  const answers = await Promise.all([1, 2, 3, 4].map(() => admin.json(...command)));
  answers.push(await admin.json(...command));
  expect(answers.map(({ replayed }) => replayed).filter((replayed) => !replayed)).toHaveLength(1);
  expect(answers.every((answer) => answer.id === id)).toBe(true);
  expect(await available()).toEqual(['10.00000000']);
  expect(await auditRows(harness.owner, id)).toHaveLength(1);
});

test('of two amounts with one id at once, one is posted and the other is refused', async () => {
  const id = newId('adjustment');
  const commands = ['10', '11'].map((amount) => adjustment(amount, 'in', '--operation-id', id));
  // Both have found the id free before one of them posts.
  const lock = 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))';
  const holding = await harness.owner.begin();
  await holding.query(lock, [`${id}:adjustment`]);
  const running = commands.map((command) => admin.run(...command));
  await whenWaiting(harness.owner, 2);
  await holding.commit();
  const ended = await Promise.all(running);
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(ended.map(({ stderr }) => stderr).join('')).toContain(`${id} is another adjustment`);
  expect(await auditRows(harness.owner, id)).toHaveLength(1);
});

test('an id that belongs to another adjustment is refused with what it was', async () => {
  const { id } = await admin.json(...adjustment('10'));
  const other = await harness.createAccount();
  for (const changed of [
    adjustment('11', 'in', '--operation-id', id),
    adjustment('10', 'out', '--operation-id', id),
    adjustment('10', 'in', '--operation-id', id, '--mode', 'live'),
    adjustment('10', 'in', '--operation-id', id, '--currency', 'USDC'),
    adjustment('10', 'in', '--operation-id', id, '--account', other),
    adjustment('10', 'in', '--operation-id', id, '--reason', 'ticket 813'),
  ]) {
    const sentence = await admin.refusal(1, ...changed);
    expect(sentence).toContain(`${id} is another adjustment: 10.00000000 USDT in for ${account}`);
  }
  expect(await available()).toEqual(['10.00000000']);
});

test('more than is there is refused with the figures, and leaves nothing', async () => {
  await admin.json(...adjustment('3'));
  const id = newId('adjustment');
  const sentence = await admin.refusal(1, ...adjustment('3.00000001', 'out', '--operation-id', id));
  expect(sentence).toContain('has 3.00000000 USDT available in test mode');
  expect(sentence).toContain('less than 3.00000001');
  expect(await available()).toEqual(['3.00000000']);
  expect(await auditRows(harness.owner, id)).toEqual([]);
  // Once it is covered, the same operation goes through.
  await admin.json(...adjustment('1'));
  expect(await admin.json(...adjustment('3.00000001', 'out', '--operation-id', id))).toMatchObject({
    replayed: false,
    available: '0.99999999',
  });
});

test.each<[1 | 2, string[], RegExp]>([
  [2, ['--amount', '0'], /^error: --amount: 0 is not a valid amount/],
  [2, ['--amount', '1e3'], /^error: --amount: 1e3 is not a valid amount/],
  [2, ['--amount=-1'], /^error: --amount: -1 is not a valid amount/],
  [2, ['--amount', '0.000000001'], /8 after the decimal point/],
  [
    2,
    ['--direction', 'up'],
    /'--direction <DIRECTION>' argument 'up' is invalid\. Allowed choices are in, out/,
  ],
  [2, ['--currency', 'EUR'], /^error: --currency: EUR is not a supported/],
  [2, ['--mode', 'prod'], /'--mode <MODE>' argument 'prod'/],
  [2, ['--operation-id', 'adj_1'], /^error: --operation-id: adj_1 is not an adjustment id/],
  [2, ['--reason', 'x'.repeat(256)], /^error: --reason: It has 256 characters/],
  [1, ['--account', 'acc_x'], /acc_x does not exist/],
])('ends with %i for %j, and nothing moves', async (code, wrong, sentence) => {
  expect(await admin.refusal(code, ...adjustment('1', 'in', ...wrong))).toMatch(sentence);
  expect(await available()).toEqual([]);
});

test('a reason is required', async () => {
  const words = adjustment('1').filter((word) => word !== '--reason' && word !== 'ticket 812');
  expect(await admin.refusal(2, ...words)).toMatch(/'--reason <TEXT>' not specified/);
});

test('whether a posting went through is said to be unknown when the database breaks', async () => {
  const id = newId('adjustment');
  await harness.owner.query(
    'ALTER TABLE ledger_entries ADD CONSTRAINT broken CHECK (amount <> 77)',
  );
  const sentence = await admin.refusal(1, ...adjustment('77', 'in', '--operation-id', id));
  await harness.owner.query('ALTER TABLE ledger_entries DROP CONSTRAINT broken');
  expect(sentence).toContain(`--operation-id ${id}: it posts only once`);
  expect(sentence).not.toContain('ledger_post(');
  expect(await auditRows(harness.owner, id)).toEqual([]);
});

test('at the end every invariant of the ledger holds', async () => {
  const results = await verifyLedger(harness.db);
  expect(results.filter(({ broken }) => broken > 0)).toEqual([]);
});
