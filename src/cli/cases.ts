/** `admin cases`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { presentCase } from '../presenters/admin';
import { listCases, requireCase, resolveCase } from '../services/admin/cases';
import type { Run } from './context';
import { addNoun, changeVerb, count, LIMIT_OPTION, readVerb, requireId, text } from './options';
import { listOf, showList } from './output';

const WHERE = '`cases list` lists the ids (case_…).';
const THE_CASE = new Option('--id <CASE_ID>', 'the case').argParser(text);

export function addCases(admin: Command, run: Run): void {
  const cases = addNoun(admin, 'cases', 'Cases: what the gateway could not resolve by itself.');
  readVerb(cases, 'list', {
    summary: 'List the open cases, oldest first',
    examples: ['cases list', 'cases list --all --json'],
  })
    .option('--all', 'include the resolved cases')
    .addOption(LIMIT_OPTION)
    .action((options) =>
      run(
        options,
        async ({ db }) => {
          const found = await listCases(db, options.all === true, options.limit + 1);
          return listOf(found.map(presentCase), options.limit);
        },
        (list) =>
          showList(
            list,
            ['id', 'kind', 'object_id', 'created_at', 'resolved_at'],
            'No open cases.',
          ),
      ),
    );
  readVerb(cases, 'show', {
    summary: 'Show a case with its details',
    examples: ['cases show case_…'],
  })
    .argument('[id]', 'the case', text)
    .addOption(THE_CASE)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(options, async ({ db }) => presentCase(await requireCase(db, id)));
    });
  changeVerb(cases, 'resolve', {
    summary: 'Record how a case was resolved; the ledger is not changed',
    notes:
      'To move money, use `adjustments create`. A case collects facts: `--facts` is their number in `cases show`, ' +
      'and a case with new facts is not resolved.',
    examples: [
      'cases resolve case_… --facts 1 --resolution "provider confirms: booked twice, refunded"',
    ],
  })
    .argument('[id]', 'the case', text)
    .addOption(THE_CASE)
    .requiredOption('--resolution <TEXT>', 'the finding and what was done', text)
    .requiredOption('--facts <N>', 'how many facts `cases show` showed', count)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(options, async ({ db, by }) =>
        presentCase(
          await resolveCase(db, by, id, { seen: options.facts, text: options.resolution }),
        ),
      );
    });
}
