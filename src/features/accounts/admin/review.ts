/** `admin review`. */
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import { setReview, setReviewMaxima, showReview, switchReview } from '../review';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import { addNoun, ACCOUNT, changeVerb, DEFAULT, readVerb, text } from '../../../kit/admin/options';
import { listOf, showList, showObject } from '../../../kit/admin/output';

export function addReview(admin: Command, run: Run): void {
  const review = addNoun(admin, 'review', 'Which payouts wait for the approval of an operator.');
  readVerb(review, 'show', {
    summary: 'Show the switches of an account and the maximum amounts without review',
    examples: ['review show', 'review show --account acc_… --json'],
  })
    .addOption(ACCOUNT)
    .addOption(DEFAULT)
    .action((options) =>
      run(
        options,
        async ({ db, accountOrDefault }) =>
          present(await showReview(db, await accountOrDefault(options))),
        show,
      ),
    );
  const set = changeVerb(review, 'set', {
    summary: 'Set switches and maximum amounts; what is omitted stays unchanged',
    notes:
      'A live payout also waits at the first use of a destination, to an email address, and with ' +
      'a key younger than 24 hours.',
    examples: [
      'review set --account acc_… --review-all off --reason "three months without a fault"',
      'review set --account acc_… --currency USDT --auto-approve-max 500 --auto-approve-daily-max 5000',
      'review set --rehearse on',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(DEFAULT)
    .option('--currency <CODE>', 'a supported currency, such as USDT', text);
  addFields(set, switchReview);
  addFields(set, setReviewMaxima);
  set.action((options) => {
    const [switches, maxima] = [inputOf(switchReview, options), inputOf(setReviewMaxima, options)];
    const { currency } = options;
    const noSwitch = Object.keys(switches).length === 0;
    const noMaxima = Object.keys(maxima).length === 0;
    if (noMaxima && currency !== undefined) {
      throw new UsageError(
        '--currency needs --auto-approve-max or --auto-approve-daily-max. Add one of them.',
      );
    }
    if (noMaxima && noSwitch) {
      throw new UsageError(
        'Nothing to set. Use --review-all, --rehearse, --auto-approve-max or ' +
          '--auto-approve-daily-max.',
      );
    }
    if (!noMaxima && currency === undefined) {
      throw new UsageError('--currency is missing. Add a supported currency, such as USDT.');
    }
    return run(
      options,
      async ({ db, by, accountOrDefault }) => {
        const accountId = await accountOrDefault(options);
        const ofCurrency = currency === undefined ? null : { currency, maxima };
        await setReview(db, by, accountId, noSwitch ? null : switches, ofCurrency);
        return present(await showReview(db, accountId));
      },
      show,
    );
  });
}

function present({
  accountId,
  reviewAll,
  rehearse,
  maxima,
}: Awaited<ReturnType<typeof showReview>>) {
  return {
    object: 'review_settings',
    account_id: accountId,
    review_all: reviewAll,
    rehearse,
    maxima: maxima.map(({ currency, autoApprove, autoApproveDaily }) => ({
      currency,
      auto_approve_max: autoApprove.value,
      auto_approve_max_from: autoApprove.from,
      auto_approve_daily_max: autoApproveDaily.value,
      auto_approve_daily_max_from: autoApproveDaily.from,
    })),
  };
}

function show({ maxima, ...settings }: ReturnType<typeof present>): string {
  const table = showList(
    listOf(maxima),
    [
      'currency',
      'auto_approve_max',
      'auto_approve_max_from',
      'auto_approve_daily_max',
      'auto_approve_daily_max_from',
    ],
    'No supported currencies.',
  );
  return `${showObject(settings)}\n${table}`;
}
