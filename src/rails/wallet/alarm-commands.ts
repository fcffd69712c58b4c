/** `wallet alarms`: who looks after an alarm, and who ends it. */
import type { Command } from '@commander-js/extra-typings';
import { acknowledgeAlarm, listAlarms, type OpenAlarm, resolveAlarm } from './alarm-decisions';
import { BY, type CommandParts, JSON_OUTPUT, print } from './command-options';

const ID = ['<ID>', 'of `alarms list`'] as const;

export function addAlarmCommands(command: Command, parts: CommandParts): void {
  const { out, withDatabase } = parts;
  const alarms = command.command('alarms').description('lists open alarms, and ends them');
  alarms
    .command('list')
    .description('Lists the open alarms of all chains, the urgent ones first.')
    .option(...JSON_OUTPUT)
    .action(async ({ json }) => {
      const open = await withDatabase(listAlarms);
      const text = open.length === 0 ? 'No alarm is open.\n' : open.map(describe).join('');
      print(parts, json, open, text);
    });
  alarms
    .command('acknowledge')
    .description('Says that somebody looks after an alarm.')
    .argument(...ID)
    .requiredOption(...BY)
    .action(async (id, { by }) => {
      await withDatabase((db) => acknowledgeAlarm(db, id, by));
      out(`The alarm ${id} is acknowledged by ${by}.\n`);
    });
  alarms
    .command('resolve')
    .description('Ends an alarm after its cause is gone.')
    .argument(...ID)
    .requiredOption(...BY)
    .requiredOption('--reason <TEXT>', 'the cause and what was done')
    .action(async (id, { by, reason }) => {
      await withDatabase((db) => resolveAlarm(db, id, { by, reason }));
      out(`The alarm ${id} is resolved.\n`);
    });
}

function describe({ id, kind, subject, chain_id: chainId, detail, remedy, ...alarm }: OpenAlarm) {
  const { raised_at: since, needs_person: needsPerson, acknowledged_by: by } = alarm;
  const end = needsPerson ? 'until it is resolved' : 'ends by itself';
  const taken = by === null ? '' : `, acknowledged by ${by}`;
  const more = remedy === null ? '' : `    ${remedy}\n`;
  return `${id}  ${kind} (${subject}) on chain ${chainId} since ${since}, ${end}${taken}\n    ${detail}\n${more}`;
}
