/** `admin screening`. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import { presentScreeningSource } from '../../../kit/service/admin';
import { importList, LIST_FORMATS, listSources, removeSource } from '../screening';
import { decideRecipient } from '../../recipients/recipient-screenings';
import { createPayoutScreenings } from '../../payouts/payout-screenings';
import { createPayoutWorkflows } from '../../../temporal/payout-workflows';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Context, Run } from '../../../kit/admin/context';
import {
  addNoun,
  changeVerb,
  readVerb,
  reasonedVerb,
  requireId,
  runList,
  runOn,
  text,
} from '../../../kit/admin/options';

const RECIPIENT = {
  name: 'recipient',
  value: 'RCP_ID',
  where: '`recipients list` lists the ids (rcp_…).',
};

const PAYOUT = { name: 'payout', value: 'PO_ID', where: 'The console lists payouts.' };

const WHERE = '`screening list` lists the names.';

export function addScreening(admin: Command, run: Run): void {
  const screening = addNoun(
    admin,
    'screening',
    'Who clears the destinations of live payouts: lists of addresses, and the service.',
  );
  runList(
    run,
    readVerb(screening, 'list', {
      summary: 'List the sources that are asked',
      examples: ['screening list', 'screening list --json'],
    }),
    async ({ db }) => (await listSources(db)).map(presentScreeningSource),
    ['name', 'verdict', 'entries', 'format', 'published', 'version', 'changed_at'],
    'Nothing is screened.',
  );
  changeVerb(screening, 'import', {
    summary: 'Import a list in place of its earlier entries',
    notes:
      'From then on every live payout is looked up in it before its submission. A file that is not wholly in its ' +
      'form changes nothing. `addresses` is one address a line, with `#` before a note; `ofac-sdn-xml` is SDN.XML of ' +
      'the Office of Foreign Assets Control, of which the digital currency addresses are taken.',
    examples: [
      'screening import --list ofac --file SDN.XML --format ofac-sdn-xml',
      'screening import --list watched --file watched.txt --verdict review --reason "ticket 812"',
    ],
  })
    .requiredOption('--list <NAME>', 'the list: lower-case letters, digits, hyphens', text)
    .requiredOption('--file <PATH>', 'the file', text)
    .addOption(
      new Option('--format <FORMAT>', 'the form of the file')
        .choices(LIST_FORMATS)
        .default('addresses' as const),
    )
    .addOption(
      new Option('--verdict <VERDICT>', 'what a match means')
        .choices(['block', 'review'] as const)
        .default('block' as const),
    )
    .action((options) =>
      run(options, async ({ db, by }) => {
        const { list: name, format, verdict } = options;
        const list = { name, format, verdict, text: readFile(options.file) };
        return presentScreeningSource(await importList(db, by, list));
      }),
    );
  changeVerb(screening, 'remove', {
    summary: 'Ask a source no more: a list, or `service`',
    notes:
      'A worker that starts with SCREENING_URL requires the service again. Without a source, nothing is screened.',
    examples: ['screening remove watched', 'screening remove service --reason "contract ended"'],
  })
    .argument('[name]', 'the source', text)
    .addOption(new Option('--id <NAME>', 'the source').argParser(text))
    .action((argument, options) => {
      const name = requireId(argument, options.id, { where: WHERE });
      return run(options, async ({ db, by }) =>
        presentScreeningSource(await removeSource(db, by, name)),
      );
    });
  const decide = reasonedVerb(screening, 'decide', {
    summary: 'Decide about a live recipient that the screening holds or has blocked',
    notes:
      'It also resolves the case. A payout to the recipient is screened again before its submission.',
    examples: [
      'screening decide rcp_… --verdict clear --reason "ticket 812"',
      'screening decide rcp_… --verdict block --reason "ticket 812"',
    ],
  });
  addFields(decide, decideRecipient);
  runOn(run, decide, RECIPIENT, ({ db, by }, id, options) =>
    decideRecipient.make(db, by, { id, seen: null }, inputOf(decideRecipient, options)),
  );
  runOn(
    run,
    changeVerb(screening, 'ask', {
      summary:
        'Ask every source again about the destination of a live payout that is not submitted',
      notes:
        'The payout continues with the answers: a clear one lets it be sent, and a block rejects it.',
      examples: ['screening ask po_…', 'screening ask po_… --reason "service was mended" --json'],
    }),
    PAYOUT,
    askAgain,
  );
}

async function askAgain({ db, by, temporal, webhooks, screening }: Context, id: string) {
  const screenings = createPayoutScreenings({
    db,
    screeningService: screening(),
    payoutWorkflows: createPayoutWorkflows(temporal()),
    // Only a payout with a beneficiary needs WEBHOOK_SECRET_KEY.
    secretBox: { open: (sealed, owner) => webhooks().secretBox.open(sealed, owner) },
  });
  const screened = await screenings.askAgain(by, id);
  return {
    object: 'screening',
    payout_id: id,
    outcome: screened.kind,
    reasons: 'answers' in screened ? screened.answers.flatMap(({ reasons }) => reasons) : [],
    problem: screened.kind === 'no_answer' ? screened.reason : null,
  };
}

/** @throws UsageError */
function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(`--file: ${path} cannot be read (${code}).`, { cause: error });
  }
}
