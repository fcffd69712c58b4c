/** `admin audit`. */
import { UsageError } from '../lib/command-line';
import { listAudit } from '../services/admin/audit';
import { listOf, verb, type Noun } from './command';
import { showList } from './output';
import { LIMITED, readLimit } from './shared-options';

export const AUDIT: Noun = {
  summary: 'Who changed what, when and why. It can only grow.',
  verbs: {
    list: verb({
      summary: 'Lists the changes, newest first; --json has before and after too',
      options: {
        object: { value: 'ID', help: 'only of the object with this id' },
        account: { value: 'ACC_ID', help: 'only of this account and what belongs to it' },
        action: { value: 'NAME', help: 'only this, such as api_key.rotate' },
        actor: { value: 'NAME', help: 'only by this person' },
        since: { value: 'TIME', help: 'only from this time on' },
        before: { value: 'ID', help: 'only older than this entry, for the next page' },
        ...LIMITED,
      },
      examples: [
        'audit list',
        'audit list --object key_… --json',
        'audit list --actor alice --since 2027-01-01 --action limits.set',
      ],
      read: (options) => {
        const beforeId = options.text('before');
        if (beforeId !== undefined && !/^[0-9]{1,18}$/.test(beforeId)) {
          throw new UsageError(`--before ${beforeId} is no entry’s id: it is a whole number.`);
        }
        return {
          beforeId,
          objectId: options.text('object'),
          accountId: options.text('account'),
          action: options.text('action'),
          actor: options.text('actor'),
          since: options.time('since'),
          limit: readLimit(options),
        };
      },
      run: async ({ db }, query) =>
        listOf(await listAudit(db, { ...query, limit: query.limit + 1 }), query.limit),
      show: (list) =>
        showList(list, ['id', 'at', 'by', 'action', 'object_id', 'reason'], 'Nothing was changed.'),
    }),
  },
};
