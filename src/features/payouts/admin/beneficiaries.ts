/** `admin beneficiaries`. */
import type { Command } from '@commander-js/extra-typings';
import { eraseBeneficiaries } from '../payout-beneficiaries';
import type { Run } from '../../../kit/admin/context';
import { addNoun, reasonedVerb, time } from '../../../kit/admin/options';

export function addBeneficiaries(admin: Command, run: Run): void {
  const beneficiaries = addNoun(
    admin,
    'beneficiaries',
    'Who receives the money of payouts: personal data that is kept for as long as the law asks.',
  );
  reasonedVerb(beneficiaries, 'erase', {
    summary: 'Erase the beneficiaries of payouts that ended before a time',
    notes:
      'The payouts stay, and those that have not ended keep their beneficiaries. An interrupted run continues with\n' +
      'the rest. Backups have the beneficiaries until they are deleted.',
    examples: ['beneficiaries erase --before 2021-01-01 --reason "five years are over"'],
  })
    .requiredOption(
      '--before <TIME>',
      'a day or a time; payouts that ended before it lose theirs',
      time,
    )
    .action((options) =>
      run(options, async ({ db, by, note }) => {
        const { before } = options;
        const { erased } = await eraseBeneficiaries(db, by, before, (count) =>
          note(`${count} beneficiaries erased`),
        );
        return { object: 'payout_beneficiaries', before: before.toISOString(), erased };
      }),
    );
}
