/** `admin audit`. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { presentAuditEntry } from '../presenters/admin';
import { listAudit } from '../services/admin/audit';
import type { Run } from './context';
import { addNoun, isoTime, LIMIT_OPTION, readVerb, text } from './options';
import { listOf, showList } from './output';

export function addAudit(admin: Command, run: Run): void {
  const audit = addNoun(
    admin,
    'audit',
    'The audit log: who changed what, when and why. It is append-only.',
  );
  readVerb(audit, 'list', {
    summary: 'List the changes, newest first',
    notes: '--json includes the states before and after.',
    examples: [
      'audit list',
      'audit list --object key_… --json',
      'audit list --actor alice --since 2027-01-01 --action limits.set',
    ],
  })
    .option('--object <ID>', 'only of the object with this id', text)
    .option('--account <ACC_ID>', 'only of this account and its objects', text)
    .option('--action <NAME>', 'only this action, such as api_key.rotate', text)
    .option('--actor <NAME>', 'only by this person', text)
    .option('--since <TIME>', 'only from this time on', isoTime)
    .option('--before <ID>', 'only older than this entry, for the next page', entryId)
    .addOption(LIMIT_OPTION)
    .action((options) =>
      run(
        options,
        async ({ db }) => {
          const { before, object, account, action, actor, since, limit } = options;
          const entries = await listAudit(db, {
            beforeId: before,
            objectId: object,
            accountId: account,
            action,
            actor,
            since,
            limit: limit + 1,
          });
          return listOf(entries.map(presentAuditEntry), limit);
        },
        (list) =>
          showList(list, ['id', 'at', 'by', 'action', 'object_id', 'reason'], 'No changes found.'),
      ),
    );
}

function entryId(value: string): string {
  if (/^[0-9]{1,18}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be the id of an entry, a whole number.');
}
