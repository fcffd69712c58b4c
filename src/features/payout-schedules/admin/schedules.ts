/** `admin schedules`. */
import type { Command } from '@commander-js/extra-typings';
import { changeSchedule, listSchedules, showSchedule } from '../schedule-changes';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  LIMIT_OPTION,
  readVerb,
  reasonedVerb,
  runList,
  runOn,
} from '../../../kit/admin/options';

const SCHEDULE = {
  name: 'schedule',
  value: 'PS_ID',
  where: '`schedules list` lists the ids (ps_…).',
};

export function addSchedules(admin: Command, run: Run): void {
  const schedules = addNoun(admin, 'schedules', 'Schedules of payouts, and their runs.');
  runList(
    run,
    readVerb(schedules, 'list', {
      summary: 'List the schedules that have not ended, newest first',
      examples: ['schedules list', 'schedules list --all --json'],
    })
      .option('--all', 'include the schedules that have ended')
      .addOption(LIMIT_OPTION),
    ({ db }, { all, limit }) => listSchedules(db, all !== true, limit + 1),
    ['id', 'status', 'mode', 'account_id', 'reference', 'next_run_at', 'last_run'],
    'No schedules.',
  );
  const show = readVerb(schedules, 'show', {
    summary: 'Show a schedule with its newest runs, and why a run paid nothing',
    examples: ['schedules show ps_…'],
  });
  runOn(run, show, SCHEDULE, ({ db }, id) => showSchedule(db, id));
  const changes = {
    pause: 'Pause a schedule; times that pass meanwhile are left out',
    resume: 'Resume a schedule, from its next time on',
  } as const;
  for (const trigger of ['pause', 'resume'] as const) {
    const verb = reasonedVerb(schedules, trigger, {
      summary: changes[trigger],
      notes: 'The merchant can pause and resume it as well. To hold payouts, use `payouts pause`.',
      examples: [`schedules ${trigger} ps_… --by alice --reason "the merchant called"`],
    });
    runOn(run, verb, SCHEDULE, ({ db, by }, id) => changeSchedule(db, by, id, trigger));
  }
}
