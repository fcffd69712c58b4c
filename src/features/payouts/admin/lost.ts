/** `admin payouts lost` and `admin payments lost`: after PostgreSQL was restored to an earlier time. */
import { type Command, Option } from '@commander-js/extra-typings';
import { listLost, type LostObject } from '../lost';
import type { Run } from '../../../kit/admin/context';
import { LIMIT_OPTION, readVerb, runList, time } from '../../../kit/admin/options';

export function addLost(noun: Command, run: Run, kind: 'payout' | 'payment'): void {
  runList(
    run,
    readVerb(noun, 'lost', {
      summary: `List ${kind}s that Temporal knows and the database does not`,
      notes:
        'For after a restore of the database to an earlier time; see "After a restore" in ' +
        'docs/operations.md. Refused requests are not listed.',
      examples: [`${kind}s lost --since 2027-01-15T12:00:00Z`],
    })
      .addOption(
        new Option('--since <TIME>', 'the time that the database was restored to')
          .argParser(time)
          .makeOptionMandatory(),
      )
      .addOption(LIMIT_OPTION),
    async ({ db, temporal }, { since }) =>
      (await listLost(db, temporal(), kind, since)).map((one) => present(kind, one)),
    ['id', 'account_id', 'status', 'started_at', 'summary'],
    `No ${kind} is lost.`,
  );
}

function present(object: 'payout' | 'payment', lost: LostObject) {
  return {
    id: lost.id,
    object,
    account_id: lost.accountId,
    mode: lost.mode,
    status: lost.status,
    started_at: lost.startedAt.toISOString(),
    summary: lost.summary,
  };
}
