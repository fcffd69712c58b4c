/** `admin review`. */
import { UsageError } from '../lib/command-line';
import {
  setReview,
  showReview,
  type ReviewInput,
  type ShownReview,
} from '../services/admin/review';
import { listOf, verb, type Noun } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';
import {
  ACCOUNT_OR_DEFAULT,
  CURRENCY,
  readAccountOrDefault,
  readCurrency,
  resolveAccount,
} from './shared-options';

const MAXIMUM = 'AMOUNT';

function show({ maxima, ...settings }: ShownReview): string {
  const table = showList(
    listOf(maxima),
    [
      'currency',
      'auto_approve_max',
      'auto_approve_max_from',
      'auto_approve_daily_max',
      'auto_approve_daily_max_from',
    ],
    'The gateway moves no currency.',
  );
  return `${showObject(settings)}\n${table}`;
}

export const REVIEW: Noun = {
  summary: 'What makes a payout wait for an operator.',
  verbs: {
    show: verb({
      summary: 'Shows an account’s switches and what may pass without an operator',
      options: ACCOUNT_OR_DEFAULT,
      examples: ['review show', 'review show --account acc_… --json'],
      read: readAccountOrDefault,
      run: async (context, account) =>
        showReview(context.db, await resolveAccount(context, account)),
      show,
    }),
    set: verb({
      summary: 'Sets switches and maxima; what is left out stays as it is',
      notes: [
        'A live payout also waits at the first use of a destination, to an e-mail address, and with',
        'a key younger than 24 hours.',
      ],
      options: {
        ...ACCOUNT_OR_DEFAULT,
        'review-all': { value: 'on|off', help: 'every live payout waits' },
        rehearse: { value: 'on|off', help: 'every test payout waits, to rehearse a review' },
        ...CURRENCY,
        'auto-approve-max': {
          value: MAXIMUM,
          help: 'a larger payout waits; none, or default for everybody’s',
        },
        'auto-approve-daily-max': {
          value: MAXIMUM,
          help: 'what passes within 24 hours; none, or default for everybody’s',
        },
      },
      examples: [
        'review set --account acc_… --review-all off --reason "three months without a fault"',
        'review set --account acc_… --currency USDT --auto-approve-max 500 --auto-approve-daily-max 5000',
        'review set --rehearse on',
      ],
      changes: 'reason optional',
      read: (options) => ({
        account: readAccountOrDefault(options),
        settings: readSettings(options),
      }),
      run: async (context, { account, settings }) =>
        setReview(context.db, context.by, await resolveAccount(context, account), settings),
      show,
    }),
  },
};

function readSettings(options: Options): ReviewInput {
  const autoApproveMax = options.text('auto-approve-max');
  const autoApproveDailyMax = options.text('auto-approve-daily-max');
  const noMaxima = autoApproveMax === undefined && autoApproveDailyMax === undefined;
  if (noMaxima && options.text('currency') !== undefined) {
    throw new UsageError(
      '--currency goes with --auto-approve-max or --auto-approve-daily-max: add one of them.',
    );
  }
  const settings = {
    reviewAll: options.onOff('review-all'),
    rehearse: options.onOff('rehearse'),
    maxima: noMaxima
      ? null
      : { currency: readCurrency(options), autoApproveMax, autoApproveDailyMax },
  };
  if (noMaxima && settings.reviewAll === undefined && settings.rehearse === undefined) {
    throw new UsageError(
      'Nothing to set: --review-all, --rehearse, --auto-approve-max or --auto-approve-daily-max.',
    );
  }
  return settings;
}
