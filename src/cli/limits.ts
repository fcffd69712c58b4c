/** `admin limits`. */
import { UsageError } from '../lib/command-line';
import { listLimits, setLimits, unsetLimits } from '../services/admin/limits';
import { listOf, verb, type Noun } from './command';
import { showList, showObject } from './output';
import {
  ACCOUNT_OR_DEFAULT,
  CURRENCY,
  readAccountOrDefault,
  readCurrency,
  resolveAccount,
} from './shared-options';

export const LIMITS: Noun = {
  summary: 'The most for one payout, and for a rolling 24 hours, per currency.',
  verbs: {
    list: verb({
      summary: 'Lists the limits in force, and whether they are the account’s or the default’s',
      options: ACCOUNT_OR_DEFAULT,
      examples: ['limits list', 'limits list --default --json'],
      read: readAccountOrDefault,
      run: async (context, account) =>
        listOf(await listLimits(context.db, await resolveAccount(context, account))),
      show: (list) =>
        showList(
          list,
          ['currency', 'per_transaction', 'per_transaction_from', 'daily', 'daily_from'],
          'The gateway moves no currency.',
        ),
    }),
    set: verb({
      summary: 'Sets one limit or both; the other stays as it is',
      options: {
        ...ACCOUNT_OR_DEFAULT,
        ...CURRENCY,
        'per-transaction': { value: 'AMOUNT', help: 'the most for one payout, or none' },
        daily: { value: 'AMOUNT', help: 'the most for a rolling 24 hours, or none' },
      },
      examples: [
        'limits set --account acc_… --currency USDT --per-transaction 10000 --daily 40000',
        'limits set --default --currency XRP --daily 100000 --reason "new currency"',
      ],
      changes: 'reason optional',
      read: (options) => {
        const [perTransaction, daily] = [options.text('per-transaction'), options.text('daily')];
        if (perTransaction === undefined && daily === undefined) {
          throw new UsageError(
            '--per-transaction or --daily is missing: an amount, or none for no limit.',
          );
        }
        return {
          account: readAccountOrDefault(options),
          currency: readCurrency(options),
          limits: { perTransaction, daily },
        };
      },
      run: async (context, { account, currency, limits }) => {
        const scope = { accountId: await resolveAccount(context, account), currency };
        return setLimits(context.db, context.by, scope, limits);
      },
      show: showObject,
    }),
    unset: verb({
      summary: 'Takes an account’s own limits away, so that the default holds again',
      notes: ['With --default there is no limit from then on.'],
      options: {
        ...ACCOUNT_OR_DEFAULT,
        ...CURRENCY,
        'per-transaction': { help: 'only the one for one payout' },
        daily: { help: 'only the one for 24 hours' },
      },
      examples: ['limits unset --account acc_… --currency USDT --daily'],
      changes: 'reason optional',
      read: (options) => {
        const [perTransaction, daily] = [options.flag('per-transaction'), options.flag('daily')];
        const both = !perTransaction && !daily;
        return {
          account: readAccountOrDefault(options),
          currency: readCurrency(options),
          which: { perTransaction: both || perTransaction, daily: both || daily },
        };
      },
      run: async (context, { account, currency, which }) => {
        const scope = { accountId: await resolveAccount(context, account), currency };
        return unsetLimits(context.db, context.by, scope, which);
      },
      show: showObject,
    }),
  },
};
