/** `admin limits`. */
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import { listLimits, setLimits, unsetLimits, type Limits } from '../limits';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  ACCOUNT,
  changeVerb,
  CURRENCY,
  DEFAULT,
  readVerb,
  runList,
} from '../../../kit/admin/options';

export function addLimits(admin: Command, run: Run): void {
  const limits = addNoun(
    admin,
    'limits',
    'Payout limits per currency: for one payout, and for a rolling 24 hours.',
  );
  runList(
    run,
    readVerb(limits, 'list', {
      summary: 'List the limits in force, and whether each is the account’s own or the default',
      examples: ['limits list', 'limits list --default --json'],
    })
      .addOption(ACCOUNT)
      .addOption(DEFAULT),
    async ({ db, accountOrDefault }, options) =>
      (await listLimits(db, await accountOrDefault(options))).map(present),
    ['currency', 'per_transaction', 'per_transaction_from', 'daily', 'daily_from'],
    'No supported currencies.',
  );
  const set = changeVerb(limits, 'set', {
    summary: 'Set one or both limits; an omitted one stays unchanged',
    examples: [
      'limits set --account acc_… --currency USDT --per-transaction 10000 --daily 40000',
      'limits set --default --currency XRP --daily 100000 --reason "new currency"',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(DEFAULT)
    .addOption(CURRENCY);
  addFields(set, setLimits);
  set.action((options) => {
    const input = inputOf(setLimits, options);
    if (Object.keys(input).length === 0) {
      throw new UsageError(
        'Nothing to set. Use --per-transaction or --daily with an amount, or none for no limit.',
      );
    }
    return run(options, async ({ db, by, accountOrDefault }) => {
      const scope = { accountId: await accountOrDefault(options), currency: options.currency };
      return present(await setLimits.make(db, by, scope, input));
    });
  });
  changeVerb(limits, 'unset', {
    summary: 'Remove an account’s own limits, so that the default applies again',
    notes: 'With --default, no limit applies afterwards. Without further options both are removed.',
    examples: ['limits unset --account acc_… --currency USDT --daily'],
  })
    .addOption(ACCOUNT)
    .addOption(DEFAULT)
    .addOption(CURRENCY)
    .option('--per-transaction', 'only the limit for one payout')
    .option('--daily', 'only the limit for 24 hours')
    .action((options) =>
      run(options, async ({ db, by, accountOrDefault }) => {
        const { currency, perTransaction = false, daily = false } = options;
        const both = !perTransaction && !daily;
        const which = { perTransaction: both || perTransaction, daily: both || daily };
        const scope = { accountId: await accountOrDefault(options), currency };
        return present(await unsetLimits.make(db, by, { ...scope, ...which }, {}));
      }),
    );
}

function present({ accountId, currency, perTransaction, daily }: Limits) {
  return {
    object: 'payout_limits',
    account_id: accountId,
    currency,
    per_transaction: perTransaction.value,
    per_transaction_from: perTransaction.from,
    daily: daily.value,
    daily_from: daily.from,
  };
}
