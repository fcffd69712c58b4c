/** `admin fees`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { DIRECTIONS } from '../../../domain/fees';
import { presentFeeRuleVersion } from '../../../kit/service/admin';
import { endFee, listFees, setFee } from '../fees';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  ACCOUNT,
  changeVerb,
  CURRENCY,
  DEFAULT,
  PROVIDER,
  readVerb,
  runList,
  time,
} from '../../../kit/admin/options';

const DIRECTION = new Option('--direction <DIRECTION>', 'pay-ins or payouts')
  .choices(DIRECTIONS)
  .makeOptionMandatory();

export function addFees(admin: Command, run: Run): void {
  const fees = addNoun(admin, 'fees', 'Service fees: rules with a validity period.');
  runList(
    run,
    readVerb(fees, 'list', {
      summary: 'List the rules of an account and the defaults, in force and planned',
      notes: "An account's own rule takes precedence over the default.",
      examples: ['fees list', 'fees list --default --all --json'],
    })
      .addOption(ACCOUNT)
      .addOption(DEFAULT)
      .option('--all', 'include the rules that have ended'),
    async ({ db, accountOrDefault }, options) => {
      const rules = await listFees(db, await accountOrDefault(options), options.all === true);
      return rules.map(presentFeeRuleVersion);
    },
    [
      'account_id',
      'direction',
      'provider',
      'currency',
      'percentage',
      'fixed_amount',
      'min_fee',
      'max_fee',
      'valid_from',
      'valid_until',
    ],
    'No fee rules. A route can be enabled only with a default rule.',
  );
  const set = changeVerb(fees, 'set', {
    summary: 'Start a new rule and end the present one at the same moment',
    notes:
      'The fee is the percentage of the amount plus --fixed, raised to --min-fee, then capped at ' +
      '--max-fee. An omitted option means no fixed part, no minimum, no maximum. Existing payouts ' +
      'keep their fee.',
    examples: [
      'fees set --default --direction payout --provider onchain_provider --currency USDT --percentage 0.8',
      'fees set --account acc_… --direction payout --provider exchange_pay --currency USDT \\\n' +
        '    --percentage 0.5 --fixed 0.1 --min-fee 0.5 --max-fee 25 --from 2027-01-01 --reason "contract of May"',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(DEFAULT)
    .addOption(DIRECTION)
    .addOption(PROVIDER)
    .addOption(CURRENCY)
    .option('--from <TIME>', 'when it starts (default: now)', time)
    .option('--until <TIME>', 'when it ends (default: when the next planned rule starts)', time);
  addFields(set, setFee);
  set.action((options) =>
    run(options, async ({ db, by, accountOrDefault }) => {
      const { direction, provider, currency, from = null, until = null } = options;
      const accountId = await accountOrDefault(options);
      const rule = { scope: { accountId, direction, provider, currency }, from, until };
      return presentFeeRuleVersion(await setFee.make(db, by, rule, inputOf(setFee, options)));
    }),
  );
  changeVerb(fees, 'end', {
    summary: 'End the rule in force',
    notes:
      "After an account's own rule the default applies. A default rule whose routes are enabled " +
      'cannot end without a successor. To cancel a planned rule, use --at with the time at which ' +
      'it starts.',
    examples: [
      'fees end --account acc_… --direction payout --provider exchange_pay --currency USDT',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(DEFAULT)
    .addOption(DIRECTION)
    .addOption(PROVIDER)
    .addOption(CURRENCY)
    .option('--at <TIME>', 'when it ends (default: now)', time)
    .action((options) =>
      run(options, async ({ db, by, accountOrDefault }) => {
        const { direction, provider, currency } = options;
        const accountId = await accountOrDefault(options);
        const scope = { accountId, direction, provider, currency };
        const end = { scope, at: options.at ?? null };
        return presentFeeRuleVersion(await endFee.make(db, by, end, {}));
      }),
    );
}
