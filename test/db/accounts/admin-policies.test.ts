/** Limits, review and pauses, by the admin command, as a new payout meets them. */
import { listRoutes } from '../../../src/db/accounts/currency-routes';
import { readPayoutFacts } from '../../../src/db/payouts/payout-facts';
import { listPolicies } from '../../../src/db/accounts/payout-policies';
import type { ProviderCode } from '../../../src/domain/provider-codes';
import { amount } from '../../../src/domain/money';
import { Admin, auditRows } from '../admin-harness';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';
import { compose } from '../../support/servers/database';

const harness = started(startHarness);
let admin: Admin;
let account: string;
let apiKeyId: string;

beforeAll(async () => {
  admin = new Admin(harness.database.adminUrl);
});

beforeEach(async () => {
  ({ id: apiKeyId, accountId: account } = await harness.createKey());
});

/** What the gateway's role reads for a payout of this account. */
function facts(provider: ProviderCode = 'onchain_provider', currency = 'USDT') {
  return readPayoutFacts(harness.db, {
    accountId: account,
    mode: 'test',
    apiKeyId,
    provider,
    network: null,
    request: {
      amount: amount('1'),
      currency,
      reference: 'order-1',
      destination: { type: 'crypto_address', value: '0x0', memo: null },
      network: null,
      provider: null,
      description: null,
      metadata: {},
    },
  });
}

describe('limits', () => {
  const set = (...options: string[]) =>
    admin.json('limits', 'set', '--account', account, '--currency', 'USDT', ...options);

  test('one of an account is its own; the other is still the default’s', async () => {
    const limits = await set('--per-transaction', '100');
    expect(limits).toMatchObject({
      per_transaction: '100.00000000',
      per_transaction_from: 'account',
      daily: '200000.00000000',
      daily_from: 'default',
    });
    expect(await facts()).toMatchObject({
      perTransactionMax: '100.00000000',
      dailyMax: '200000.00000000',
    });
    const listed = await admin.list('limits', 'list', '--account', account);
    expect(listed).toContainEqual(limits);
    const currencies = listed.map(({ currency }) => currency);
    expect(currencies).toEqual(['BTC', 'ETH', 'USDC', 'USDT', 'XRP']);
  });

  test('a maximum for one payout above that of 24 hours is refused', async () => {
    const wish = ['--account', account, '--currency', 'XRP', '--per-transaction', '10'];
    const refusal = await admin.refusal(2, 'limits', 'set', ...wish, '--daily', '1');
    expect(refusal).toContain('10.00000000 is more than the limit of 24 hours, 1.00000000.');
  });

  test('a default that changes reaches every account that follows it', async () => {
    await admin.json(
      ...'limits set --account'.split(' '),
      account,
      '--currency',
      'BTC',
      '--daily',
      '3',
    );
    await admin.json('limits', 'set', '--default', '--currency', 'BTC', '--per-transaction', '0.5');
    expect(await facts('onchain_provider', 'BTC')).toMatchObject({
      perTransactionMax: '0.50000000',
      dailyMax: '3.00000000',
    });
    const defaults = await admin.json('limits', 'list', '--default');
    expect(defaults.data).toContainEqual(
      expect.objectContaining({
        currency: 'BTC',
        per_transaction: '0.50000000',
        daily: '4.00000000',
      }),
    );
  });

  test('a row from before the admin command stands for all four', async () => {
    await harness.owner.query(
      compose('payout_policies').insert({
        account_id: account,
        currency: 'USDT',
        daily_max: '7',
      }),
    );
    expect(await facts()).toMatchObject({ perTransactionMax: null, dailyMax: '7.00000000' });
    await set('--per-transaction', '3');
    expect(await facts()).toMatchObject({
      perTransactionMax: '3.00000000',
      dailyMax: '7.00000000',
    });
  });

  test('none is no limit, zero lets nothing pass', async () => {
    await set('--per-transaction', 'none', '--daily', '0');
    expect(await facts()).toMatchObject({ perTransactionMax: null, dailyMax: '0.00000000' });
  });

  test('unset gives the default back, one limit or both', async () => {
    await set('--per-transaction', '1', '--daily', '2');
    const unset = ['limits', 'unset', '--account', account, '--currency', 'USDT'];
    await admin.json(...unset, '--daily');
    expect(await facts()).toMatchObject({
      perTransactionMax: '1.00000000',
      dailyMax: '200000.00000000',
    });
    expect(await admin.json(...unset)).toMatchObject({
      per_transaction: '50000.00000000',
      per_transaction_from: 'default',
    });
    expect(await auditRows(harness.owner, `${account}:USDT`)).toMatchObject([
      {
        action: 'limits.set',
        object: 'payout_policy',
        accountId: account,
        before: { per_transaction_max: '50000.00000000' },
        after: { per_transaction_max: '1.00000000', daily_max: '2.00000000' },
      },
      { action: 'limits.unset', after: { daily_max: '200000.00000000' } },
      { action: 'limits.unset', after: { per_transaction_max: '50000.00000000' } },
    ]);
  });

  test('two at once both hold', async () => {
    await Promise.all([set('--per-transaction', '5'), set('--daily', '6')]);
    expect(await facts()).toMatchObject({
      perTransactionMax: '5.00000000',
      dailyMax: '6.00000000',
    });
  });

  test.each<[string[], RegExp]>([
    [['--currency', 'USDT'], /^error: Nothing to set.*--per-transaction or --daily/],
    [['--daily', '1'], /'--currency <CODE>' not specified/],
    [
      ['--currency', 'DOGE', '--daily', '1'],
      /^error: --currency: DOGE is not a supported currency.*USDT/,
    ],
    [['--currency', 'USDT', '--daily', '1e3'], /^error: --daily: 1e3 is not a valid amount/],
    [
      ['--currency', 'USDT', '--per-transaction=-1'],
      /^error: --per-transaction: -1 is not a valid amount/,
    ],
    [
      ['--currency', 'USDT', '--daily', '1', '--default'],
      /'--default' cannot be used with option '--account/,
    ],
  ])('%j is refused', async (args, sentence) => {
    expect(await admin.refusal(2, 'limits', 'set', '--account', account, ...args)).toMatch(
      sentence,
    );
  });
});

test('a default that nobody has set stays so until it is named, whatever else is set', async () => {
  const unset = async () => (await listPolicies(harness.db, null, ['XRP']))[0]?.unset;
  const set = (...options: string[]) =>
    admin.json(...options.slice(0, 2), '--default', '--currency', 'XRP', ...options.slice(2));
  await harness.owner.query(compose('payout_policies').where({ currency: 'XRP' }).delete());
  await set('review', 'set', '--auto-approve-max', '1');
  await set('limits', 'set', '--per-transaction', '5');
  expect(await unset()).toEqual(['dailyMax', 'autoApproveDailyMax']);
  const both = await set('limits', 'set', '--daily', 'none');
  expect(both).toMatchObject({ per_transaction: '5.00000000', daily: null });
  expect(await unset()).toEqual(['autoApproveDailyMax']);
});

describe('review', () => {
  const set = (...options: string[]) =>
    admin.json('review', 'set', '--account', account, ...options);

  test('switches and maxima reach the next payout', async () => {
    expect(await facts()).toMatchObject({ reviewAll: true, rehearseReview: false });
    const settings = await set(
      ...['--review-all', 'off', '--rehearse', 'on', '--currency', 'USDT'],
      ...['--auto-approve-max', '500', '--auto-approve-daily-max', '5000', '--reason', 'trusted'],
    );
    expect(settings).toMatchObject({ review_all: false, rehearse: true });
    expect(settings.maxima).toContainEqual({
      currency: 'USDT',
      auto_approve_max: '500.00000000',
      auto_approve_max_from: 'account',
      auto_approve_daily_max: '5000.00000000',
      auto_approve_daily_max_from: 'account',
    });
    expect(await admin.json('review', 'show', '--account', account)).toEqual(settings);
    expect(await facts()).toMatchObject({
      reviewAll: false,
      rehearseReview: true,
      autoApproveMax: '500.00000000',
      autoApproveDailyMax: '5000.00000000',
      // The limits in the same row are still the default's.
      perTransactionMax: '50000.00000000',
    });
    const changed = { action: 'review.set', reason: 'trusted' };
    expect(await auditRows(harness.owner, account)).toMatchObject([
      { ...changed, before: { review_all: true }, after: { review_all: false } },
    ]);
    expect(await auditRows(harness.owner, `${account}:USDT`)).toMatchObject([
      {
        ...changed,
        before: { auto_approve_max: null },
        after: { auto_approve_max: '500.00000000' },
      },
    ]);
  });

  test('a switch that is not named stays as it is', async () => {
    await set('--review-all', 'off');
    await set('--rehearse', 'on');
    expect(await facts()).toMatchObject({ reviewAll: false, rehearseReview: true });
    await set('--rehearse', 'off');
    await set('--review-all', 'on');
    expect(await facts()).toMatchObject({ reviewAll: true, rehearseReview: false });
  });

  test('none and default take a maximum away', async () => {
    const maximum = (value: string) => set('--currency', 'ETH', '--auto-approve-max', value);
    const eth = async () => (await facts('onchain_provider', 'ETH')).autoApproveMax;
    await admin.json(...'review set --default --currency ETH --auto-approve-max 2'.split(' '));
    expect(await eth()).toBe('2.00000000');
    await maximum('none');
    expect(await eth()).toBeNull();
    await maximum('default');
    expect(await eth()).toBe('2.00000000');
  });

  test('a wrong maximum leaves the switches as they were too', async () => {
    const wrong = ['--review-all', 'off', '--currency', 'USDT', '--auto-approve-max', 'much'];
    expect(await admin.refusal(2, 'review', 'set', '--account', account, ...wrong)).toMatch(
      /^error: --auto-approve-max: much is not a valid amount/,
    );
    expect(await facts()).toMatchObject({ reviewAll: true });
    expect(await auditRows(harness.owner, account)).toEqual([]);
  });

  test.each<[string[], RegExp]>([
    [[], /^error: Nothing to set\. Use --review-all/],
    [
      ['--review-all', 'yes'],
      /'--review-all <SWITCH>' argument 'yes' is invalid\. Allowed choices are on, off/,
    ],
    [['--auto-approve-max', '5'], /^error: --currency is missing/],
    [['--currency', 'USDT'], /^error: --currency needs --auto-approve-max/],
  ])('%j is refused', async (args, sentence) => {
    expect(await admin.refusal(2, 'review', 'set', '--account', account, ...args)).toMatch(
      sentence,
    );
  });

  test('a switch has no default', async () => {
    const sentence = await admin.refusal(2, 'review', 'set', '--default', '--rehearse', 'on');
    expect(sentence).toMatch(/^error: --rehearse: .* one account/);
  });
});

describe('four-eyes', () => {
  const run = (verb: string, ...options: string[]) => [
    'four-eyes',
    verb,
    '--currency',
    'XRP',
    ...options,
  ];
  const threshold = async () => (await facts('onchain_provider', 'XRP')).fourEyesThreshold;

  test('a threshold applies once somebody else confirmed the same amount', async () => {
    expect(await threshold()).toBeNull();
    await admin.json(...run('propose', '--above', '500', '--by', 'alice', '--reason', 'policy'));
    expect(await threshold()).toBeNull();
    const own = await admin.refusal(1, ...run('confirm', '--above', '500', '--by', 'Alice'));
    expect(own).toContain('Alice proposed this change. Somebody else must confirm it.');
    const other = await admin.refusal(1, ...run('confirm', '--above', '50', '--by', 'bob'));
    expect(other).toContain('alice proposed 500.00000000 for XRP.');
    expect(await admin.json(...run('confirm', '--above', '500', '--by', 'bob'))).toMatchObject({
      above: '500.00000000',
      proposed: null,
    });
    expect(await threshold()).toBe('500.00000000');
    expect(await admin.refusal(1, ...run('confirm', '--above', '500', '--by', 'bob'))).toContain(
      'No change is proposed for XRP.',
    );
    await admin.json(...run('propose', '--above', 'none', '--by', 'alice'));
    await admin.json(...run('withdraw', '--by', 'carol'));
    await admin.json(...run('propose', '--above', 'none', '--by', 'alice'));
    const shown = await admin.list('four-eyes', 'list');
    expect(shown.find(({ currency }) => currency === 'XRP')).toMatchObject({
      above: '500.00000000',
      proposed: 'none',
      proposed_by: 'alice',
    });
    await admin.json(...run('confirm', '--above', 'none', '--by', 'bob'));
    expect(await threshold()).toBeNull();
    expect(await auditRows(harness.owner, 'XRP')).toMatchObject([
      { actor: 'alice', action: 'four_eyes.propose', reason: 'policy' },
      { actor: 'bob', action: 'four_eyes.confirm', after: { above: '500.00000000' } },
      { actor: 'alice', action: 'four_eyes.propose' },
      { actor: 'carol', action: 'four_eyes.withdraw' },
      { actor: 'alice', action: 'four_eyes.propose' },
      { actor: 'bob', action: 'four_eyes.confirm', after: { above: null } },
    ]);
  });
});

describe('pauses', () => {
  afterEach(() => harness.owner.query(compose('payout_pauses').delete()));

  test.each([
    ['everything', [], 'global', 'global'],
    ['one provider', ['--provider', 'onchain_provider'], 'provider', 'onchain_provider'],
    ['one account', ['--account', 'THIS'], 'account', 'THIS'],
  ])('of %s hold new payouts until they are lifted', async (_, options, scope, object) => {
    const what = options.map((part) => part.replace('THIS', account));
    const objectId = object.replace('THIS', account);
    const seen = (await auditRows(harness.owner, objectId)).length;
    await admin.json('payouts', 'pause', ...what, '--reason', 'wallet is moved');
    expect((await facts()).pauseReason).toBe('wallet is moved');
    expect((await facts('exchange_pay')).pauseReason).toBe(
      scope === 'provider' ? null : 'wallet is moved',
    );
    const { data } = await admin.json('payouts', 'pauses');
    expect(data).toMatchObject([{ scope, target: scope === 'global' ? null : objectId }]);
    await admin.json('payouts', 'resume', await idOfPause());
    expect((await facts()).pauseReason).toBeNull();
    expect((await auditRows(harness.owner, objectId)).slice(seen)).toMatchObject([
      { action: 'payouts.pause', before: null, after: { scope }, reason: 'wallet is moved' },
      { action: 'payouts.resume', before: { reason: 'wallet is moved' }, after: null },
    ]);
  });

  /** The newest. */
  async function idOfPause(): Promise<string> {
    const { data } = await admin.json('payouts', 'pauses');
    return (data as { id: string }[]).at(-1)!.id;
  }

  test('several hold the same payouts, and each is lifted by its id', async () => {
    await admin.json('payouts', 'pause', '--reason', 'everything');
    const first = await idOfPause();
    await admin.json('payouts', 'pause', '--reason', 'ledger is broken');
    const second = await idOfPause();
    await admin.json('payouts', 'pause', '--account', account, '--reason', 'this one');
    await admin.json('payouts', 'resume', first);
    expect((await facts()).pauseReason).toBe('ledger is broken');
    await admin.json('payouts', 'resume', '--id', second);
    expect((await facts()).pauseReason).toBe('this one');
    expect(await admin.refusal(1, 'payouts', 'resume', first)).toContain(
      `There is no pause ${first}.`,
    );
    expect(await admin.refusal(2, 'payouts', 'resume')).toContain(
      '`payouts pauses` lists the ids.',
    );
  });

  test('the same command again makes no second pause', async () => {
    await admin.json('payouts', 'pause', '--reason', 'everything');
    expect(await admin.refusal(1, 'payouts', 'pause', '--reason', 'everything')).toContain(
      'already paused these payouts for this reason',
    );
    expect((await admin.json('payouts', 'pauses')).data).toHaveLength(1);
  });

  test.each([
    ['live', null],
    ['test', 'emergency'],
  ])('of %s mode: a new test payout finds %j', async (mode, found) => {
    await admin.json('payouts', 'pause', '--mode', mode, '--reason', 'emergency');
    expect((await facts()).pauseReason).toBe(found);
    expect((await admin.json('payouts', 'pauses')).data).toMatchObject([{ mode }]);
  });

  test('two that lift the same at once: one does, the other is told', async () => {
    await admin.json('payouts', 'pause', '--reason', 'x');
    const id = await idOfPause();
    const ended = await Promise.all([1, 2].map(() => admin.run('payouts', 'resume', id)));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
  });

  test.each<[1 | 2, string[], RegExp]>([
    [2, [], /'--reason <TEXT>' not specified/],
    [2, ['--provider', 'bank', '--reason', 'x'], /'--provider <CODE>' argument 'bank' is invalid/],
    [1, ['--account', 'acc_x', '--reason', 'x'], /acc_x does not exist/],
    [
      2,
      ['--provider', 'exchange_pay', '--account', 'acc_x', '--reason', 'x'],
      /'--account <ACC_ID>' cannot be used with option '--provider/,
    ],
  ])('end with %i for %j', async (code, args, sentence) => {
    expect(await admin.refusal(code, 'payouts', 'pause', ...args)).toMatch(sentence);
    expect((await admin.json('payouts', 'pauses')).data).toEqual([]);
  });
});

describe('routes', () => {
  const scope = ['--provider', 'onchain_provider', '--network', 'base'];

  test('a network that is turned off is not offered; the audit log says what changed', async () => {
    const isOffered = async () =>
      (await listRoutes(harness.db)).some(({ network }) => network === 'base');
    expect(await isOffered()).toBe(true);
    const disabled = await admin.list('routes', 'disable', ...scope, '--by', 'alice');
    expect(
      disabled.map(({ currency, direction, enabled }) => [currency, direction, enabled]),
    ).toEqual([
      ['USDC', 'payin', false],
      ['USDC', 'payout', false],
    ]);
    expect(await isOffered()).toBe(false);
    expect(await admin.list('routes', 'list')).toEqual(expect.arrayContaining(disabled));
    const one = [...scope, '--currency', 'USDC', '--direction', 'payout', '--by', 'bob'];
    expect(await admin.list('routes', 'enable', ...one)).toHaveLength(1);
    expect(await admin.list('routes', 'enable', ...scope, '--by', 'bob')).toHaveLength(1);
    expect(await isOffered()).toBe(true);
    expect((await auditRows(harness.db, 'onchain_provider:base')).slice(0, 2)).toMatchObject([
      {
        ...{ actor: 'alice', action: 'route.disable', object: 'currency_route', accountId: null },
        before: { routes: ['payin USDC', 'payout USDC'], enabled: true },
        after: { routes: ['payin USDC', 'payout USDC'], enabled: false },
      },
      { actor: 'bob', action: 'route.enable', after: { routes: ['payout USDC'], enabled: true } },
    ]);
  });

  test('a route is not enabled without a default fee rule, nor does the rule of an enabled one end', async () => {
    const rule = ['--direction', 'payout', '--provider', 'onchain_provider', '--currency', 'XRP'];
    const xrp = ['--provider', 'onchain_provider', '--network', 'xrpl'];
    const end = ['fees', 'end', '--default', ...rule];
    const until = [
      'fees',
      'set',
      '--default',
      ...rule,
      '--percentage',
      '2',
      '--until',
      '2999-01-01',
    ];
    for (const change of [end, until]) {
      expect(await admin.refusal(1, ...change)).toContain('Merchants use XRP payout');
    }
    await admin.list('routes', 'disable', ...xrp);
    await admin.json(...end);
    expect(await admin.refusal(1, 'routes', 'enable', ...xrp)).toContain(
      'There is no default fee rule for XRP payout through onchain_provider.',
    );
    const isEnabled = async () =>
      (await listRoutes(harness.db)).some(({ network }) => network === 'xrpl');
    expect(await isEnabled()).toBe(false);
    await admin.json('fees', 'set', '--default', ...rule, '--percentage', '1');
    expect(await admin.list('routes', 'enable', ...xrp)).toHaveLength(2);
    expect(await isEnabled()).toBe(true);
  });

  test('what is no route, and what would change nothing, is refused', async () => {
    expect(await admin.refusal(1, 'routes', 'enable', ...scope)).toBe(
      'These values are already in force.\n',
    );
    expect(await admin.refusal(2, 'routes', 'enable', ...scope, '--currency', 'XRP')).toContain(
      'onchain_provider base XRP is not a route. `routes list` shows all routes.',
    );
  });
});
