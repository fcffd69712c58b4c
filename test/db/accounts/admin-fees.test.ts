/** Fee rules, by the admin command: never edited, one after the other without a gap. */
import { listFeeRules } from '../../../src/db/accounts/fee-rules';
import { Admin, auditRows, withOptions } from '../admin-harness';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

const RULE = ['--direction', 'payout', '--provider', 'onchain_provider', '--currency', 'USDT'];

const harness = started(startHarness);
let admin: Admin;
let account: string;
let own: string[];

beforeAll(async () => {
  admin = new Admin(harness.database.adminUrl);
});

beforeEach(async () => {
  account = await harness.createAccount();
  own = ['--account', account, ...RULE];
});

/** What the merchant's API and payouts go by. */
async function inForce() {
  const rules = await listFeeRules(harness.db, account);
  return rules.find(
    ({ direction, provider, currency }) =>
      direction === 'payout' && provider === 'onchain_provider' && currency === 'USDT',
  );
}

async function ownRules(...options: string[]) {
  const rules = await admin.list('fees', 'list', '--account', account, ...options);
  return rules.filter(({ account_id }) => account_id === account);
}

test('a rule of the account takes the default’s place at once', async () => {
  expect(await inForce()).toMatchObject({ percentage: '1.0000' });
  const terms = ['--percentage', '0.75', '--fixed', '0.1', '--min-fee', '0.5', '--max-fee', '25'];
  const rule = await admin.json('fees', 'set', ...own, ...terms);
  expect(rule).toMatchObject({
    account_id: account,
    percentage: '0.7500',
    fixed_amount: '0.10000000',
    min_fee: '0.50000000',
    max_fee: '25.00000000',
    valid_until: null,
  });
  expect(await inForce()).toMatchObject({ percentage: '0.7500', fixedAmount: '0.10000000' });
  expect(await auditRows(harness.owner, rule.id)).toMatchObject([
    { action: 'fee_rule.set', accountId: account, before: null, after: rule },
  ]);
});

test('setting again ends the present rule where the next begins, and edits nothing', async () => {
  const first = await admin.json('fees', 'set', ...own, '--percentage', '2');
  const second = await admin.json('fees', 'set', ...own, '--percentage', '3');
  expect(await ownRules('--all')).toEqual([{ ...first, valid_until: second.valid_from }, second]);
  expect(await ownRules()).toEqual([second]);
  expect(await inForce()).toMatchObject({ percentage: '3.0000' });
  expect(await auditRows(harness.owner, second.id)).toMatchObject([
    { before: { ...first }, after: second },
  ]);
});

test('several at once leave one rule in force, and no two that overlap', async () => {
  await Promise.all(
    ['1', '2', '3', '4'].map((percentage) =>
      admin.json('fees', 'set', ...own, '--percentage', percentage),
    ),
  );
  const rules = await ownRules('--all');
  expect(rules).toHaveLength(4);
  const ends = rules.map(({ valid_until }) => valid_until);
  const starts = rules.map(({ valid_from }) => valid_from);
  expect(ends).toEqual([...starts.slice(1), null]);
});

test('a planned rule begins in its time, and one in between ends there', async () => {
  const planned = await admin.json(
    ...['fees', 'set', ...own, '--percentage', '2', '--from', '2999-01-01'],
  );
  expect(planned.valid_from).toBe('2999-01-01T00:00:00.000Z');
  expect(await inForce()).toMatchObject({ percentage: '1.0000' });
  const now = await admin.json('fees', 'set', ...own, '--percentage', '3');
  expect(now.valid_until).toBe(planned.valid_from);
  const late = ['fees', 'set', ...own, '--percentage', '4', '--until', '2999-06-01'];
  expect(await admin.refusal(1, ...late)).toContain('Another rule starts at 2999-01-01');
  // The planned one is cancelled where it would begin.
  await admin.json('fees', 'end', ...own, '--at', '2999-01-01');
  expect(await ownRules()).toEqual([now]);
});

test('after an account’s rule has ended the default holds again', async () => {
  const rule = await admin.json('fees', 'set', ...own, '--percentage', '2');
  const ended = await admin.json('fees', 'end', ...own, '--reason', 'contract is over');
  expect(ended).toEqual({ ...rule, valid_until: expect.any(String) });
  expect(await inForce()).toMatchObject({ percentage: '1.0000' });
  expect(await admin.refusal(1, 'fees', 'end', ...own)).toContain('in force at');
  expect(await auditRows(harness.owner, rule.id)).toMatchObject([
    { action: 'fee_rule.set' },
    { action: 'fee_rule.end', before: rule, after: ended, reason: 'contract is over' },
  ]);
});

test('a default is set for everybody', async () => {
  const xrp = ['--default', '--direction', 'payout', '--provider', 'onchain_provider'];
  const rule = await admin.json('fees', 'set', ...xrp, '--currency', 'XRP', '--percentage', '0');
  expect(rule).toMatchObject({ account_id: null, percentage: '0.0000', min_fee: null });
  const rules = await listFeeRules(harness.db, account);
  expect(rules).toContainEqual(
    expect.objectContaining({ direction: 'payout', currency: 'XRP', percentage: '0.0000' }),
  );
});

test.each<[string, string[], RegExp]>([
  ['no percentage', [], /'--percentage <P>' not specified/],
  ['more than all', ['--percentage', '100.0001'], /^error: --percentage: 100.0001/],
  ['five decimals', ['--percentage', '0.00001'], /at most 4 decimals/],
  ['a sign', ['--percentage=-1'], /^error: --percentage: -1/],
  [
    'a minimum above the maximum',
    ['--percentage', '1', '--min-fee', '2', '--max-fee', '1'],
    /^error: --min-fee: 2.* is more than the maximum fee, 1/,
  ],
  ['nine decimals', ['--percentage', '1', '--fixed', '0.000000001'], /^error: --fixed: .* 8 after/],
  [
    'a beginning in the past',
    ['--percentage', '1', '--from', '2020-01-01'],
    /^error: --from: .* is in the past/,
  ],
  [
    'an end before the beginning',
    ['--percentage', '1', '--from', '2999-02-01', '--until', '2999-01-01'],
    /^error: --until: .* not after/,
  ],
  [
    'another provider',
    ['--percentage', '1', '--provider', 'bank'],
    /'--provider <CODE>' argument 'bank' is invalid/,
  ],
  [
    'another currency',
    ['--percentage', '1', '--currency', 'usdt'],
    /^error: --currency: usdt is not a supported/,
  ],
  [
    'a currency that the provider does not move',
    ['--percentage', '1', '--provider', 'exchange_pay', '--currency', 'XRP'],
    /^error: --currency: exchange_pay does not support XRP/,
  ],
  [
    'no direction',
    ['--percentage', '1', '--direction', 'both'],
    /'--direction <DIRECTION>' argument 'both'/,
  ],
  [
    'account and default',
    ['--percentage', '1', '--default'],
    /'--default' cannot be used with option '--account/,
  ],
])('%s is refused', async (_, wrong, sentence) => {
  expect(await admin.refusal(2, 'fees', 'set', ...withOptions(own, wrong))).toMatch(sentence);
  expect(await ownRules('--all')).toEqual([]);
});

test('0 and 100 per cent are possible', async () => {
  for (const percentage of ['0', '100', '100.0000']) {
    expect((await admin.run('fees', 'set', ...own, '--percentage', percentage)).code).toBe(0);
  }
});
