/** `admin recipients`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MODES } from '../../../domain/mode';
import { presentRecipient } from '../recipients-contract';
import {
  listAccountRecipients,
  presentRecipientRules,
  requireRecipientRules,
  ruleRecipients,
} from '../recipient-rules';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  ACCOUNT,
  addNoun,
  changeVerb,
  LIMIT_OPTION,
  readVerb,
  runList,
} from '../../../kit/admin/options';

export function addRecipients(admin: Command, run: Run): void {
  const recipients = addNoun(admin, 'recipients', 'The saved destinations of a merchant.');
  runList(
    run,
    readVerb(recipients, 'list', {
      summary: 'List the recipients of an account, newest first',
      examples: [
        'recipients list --mode live',
        'recipients list --account acc_… --mode test --json',
      ],
    })
      .addOption(ACCOUNT)
      .addOption(new Option('--mode <MODE>', 'the mode').choices(MODES).makeOptionMandatory())
      .addOption(LIMIT_OPTION),
    async ({ db, accountId }, { account, mode, limit }) => {
      const owner = { accountId: await accountId(account), mode };
      return (await listAccountRecipients(db, owner, limit + 1)).map(presentRecipient);
    },
    ['id', 'name', 'currency', 'network', 'usable_from', 'created_at'],
    'No recipients.',
  );
  readVerb(recipients, 'rules', {
    summary: 'Show how long a new live destination waits, and whether only recipients are paid',
    examples: ['recipients rules', 'recipients rules --account acc_… --json'],
  })
    .addOption(ACCOUNT)
    .action((options) =>
      run(options, async ({ db, accountId }) => {
        const id = await accountId(options.account);
        return presentRecipientRules(id, await requireRecipientRules(db, id));
      }),
    );
  const set = changeVerb(recipients, 'set', {
    summary: 'Set how long a new live destination waits, and whether only recipients are paid',
    notes: 'A shorter wait is for destinations that are set from then on.',
    examples: [
      'recipients set --account acc_… --wait-hours 48 --pay-to recipients --reason "agreed"',
    ],
  }).addOption(ACCOUNT);
  addFields(set, ruleRecipients);
  set.action((options) =>
    run(options, async ({ db, by, accountId }) => {
      const subject = { accountId: await accountId(options.account) };
      return ruleRecipients.make(db, by, subject, inputOf(ruleRecipients, options));
    }),
  );
}
