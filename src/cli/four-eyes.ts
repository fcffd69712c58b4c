/** `admin four-eyes`. */
import { type Command, Option } from '@commander-js/extra-typings';
import {
  confirmThreshold,
  listThresholds,
  presentSetting,
  proposeThreshold,
  withdrawThreshold,
} from '../services/admin/four-eyes';
import type { Run } from './context';
import { addNoun, changeVerb, CURRENCY, readVerb, text } from './options';
import { listOf, showList } from './output';

const ABOVE = new Option('--above <AMOUNT>', 'a larger payout needs two operators; or none')
  .argParser(text)
  .makeOptionMandatory();

export function addFourEyes(admin: Command, run: Run): void {
  const noun = addNoun(
    admin,
    'four-eyes',
    'The amount per currency above which two operators must approve a payout in the console.',
  );
  readVerb(noun, 'list', {
    summary: 'List the thresholds and the proposed changes',
    examples: ['four-eyes list', 'four-eyes list --json'],
  }).action((options) =>
    run(
      options,
      async ({ db }) => listOf((await listThresholds(db)).map(presentSetting)),
      (list) =>
        showList(
          list,
          ['currency', 'above', 'proposed', 'proposed_by', 'proposed_at'],
          'No supported currencies.',
        ),
    ),
  );
  changeVerb(noun, 'propose', {
    summary: 'Propose a threshold, or none; it applies once somebody else confirms it',
    examples: [
      'four-eyes propose --currency USDT --above 10000 --by alice --reason "policy of May"',
    ],
  })
    .addOption(CURRENCY)
    .addOption(ABOVE)
    .action((options) =>
      run(options, async ({ db, by }) => presentSetting(await proposeThreshold(db, by, options))),
    );
  changeVerb(noun, 'confirm', {
    summary: 'Confirm the proposal of somebody else',
    notes: '--above must be the amount that was proposed.',
    examples: ['four-eyes confirm --currency USDT --above 10000 --by bob'],
  })
    .addOption(CURRENCY)
    .addOption(ABOVE)
    .action((options) =>
      run(options, async ({ db, by }) => presentSetting(await confirmThreshold(db, by, options))),
    );
  changeVerb(noun, 'withdraw', {
    summary: 'Withdraw a proposal; the threshold in force stays',
    examples: ['four-eyes withdraw --currency USDT'],
  })
    .addOption(CURRENCY)
    .action((options) =>
      run(options, async ({ db, by }) =>
        presentSetting(await withdrawThreshold(db, by, options.currency)),
      ),
    );
}
