/** `admin cases`. */
import type { Command } from '@commander-js/extra-typings';
import { presentCase } from '../../../kit/service/admin';
import { listCases, requireCase, resolveCase } from '../cases';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  changeVerb,
  count,
  LIMIT_OPTION,
  readVerb,
  runList,
  runOn,
} from '../../../kit/admin/options';

const CASE = { name: 'case', value: 'CASE_ID', where: '`cases list` lists the ids (case_…).' };

export function addCases(admin: Command, run: Run): void {
  const cases = addNoun(admin, 'cases', 'Cases: what the gateway could not resolve by itself.');
  runList(
    run,
    readVerb(cases, 'list', {
      summary: 'List the open cases, oldest first',
      examples: ['cases list', 'cases list --all --json'],
    })
      .option('--all', 'include the resolved cases')
      .addOption(LIMIT_OPTION),
    async ({ db }, { all, limit }) =>
      (await listCases(db, all === true, limit + 1)).map(presentCase),
    ['id', 'kind', 'object_id', 'created_at', 'resolved_at'],
    'No open cases.',
  );
  runOn(
    run,
    readVerb(cases, 'show', {
      summary: 'Show a case with its details',
      examples: ['cases show case_…'],
    }),
    CASE,
    async ({ db }, id) => presentCase(await requireCase(db, id)),
  );
  const resolve = changeVerb(cases, 'resolve', {
    summary: 'Record how a case was resolved; the ledger is not changed',
    notes:
      'To move money, use `adjustments create`. A case collects facts: `--facts` is their number in `cases show`, ' +
      'and a case with new facts is not resolved.',
    examples: [
      'cases resolve case_… --facts 1 --resolution "provider confirms: booked twice, refunded"',
    ],
  });
  addFields(resolve, resolveCase);
  const withFacts = resolve.requiredOption(
    '--facts <N>',
    'how many facts `cases show` showed',
    count,
  );
  runOn(run, withFacts, CASE, async ({ db, by }, id, options) => {
    const seen = { id, seen: options.facts };
    return presentCase(await resolveCase.make(db, by, seen, inputOf(resolveCase, options)));
  });
}
