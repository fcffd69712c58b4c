/** `admin four-eyes`. */
import type { Command } from '@commander-js/extra-typings';
import {
  confirmThreshold,
  listThresholds,
  presentSetting,
  proposeThreshold,
  THRESHOLD,
  withdrawThreshold,
} from '../four-eyes-thresholds';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  changeVerb,
  CURRENCY,
  readVerb,
  runList,
  type VerbTexts,
} from '../../../kit/admin/options';

export function addFourEyes(admin: Command, run: Run): void {
  const noun = addNoun(
    admin,
    'four-eyes',
    'The amount per currency above which two operators must approve a payout in the console.',
  );
  runList(
    run,
    readVerb(noun, 'list', {
      summary: 'List the thresholds and the proposed changes',
      examples: ['four-eyes list', 'four-eyes list --json'],
    }),
    async ({ db }) => (await listThresholds(db)).map(presentSetting),
    ['currency', 'above', 'proposed', 'proposed_by', 'proposed_at'],
    'No supported currencies.',
  );
  const addProposal = (name: string, change: typeof proposeThreshold, texts: VerbTexts) => {
    const verb = changeVerb(noun, name, texts).addOption(CURRENCY);
    addFields(verb, THRESHOLD);
    verb.action((options) =>
      run(options, async ({ db, by }) => {
        const proposal = { currency: options.currency, ...inputOf(THRESHOLD, options) };
        return presentSetting(await change(db, by, proposal));
      }),
    );
  };
  addProposal('propose', proposeThreshold, {
    summary: 'Propose a threshold, or none; it applies once somebody else confirms it',
    examples: [
      'four-eyes propose --currency USDT --above 10000 --by alice --reason "policy of May"',
    ],
  });
  addProposal('confirm', confirmThreshold, {
    summary: 'Confirm the proposal of somebody else',
    notes: '--above must be the amount that was proposed.',
    examples: ['four-eyes confirm --currency USDT --above 10000 --by bob'],
  });
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
