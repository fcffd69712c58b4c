/** `admin adjustments`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MODES } from '../../../domain/mode';
import { newId } from '../../../platform/lib/new-id';
import { createAdjustment, type AdjustmentResult } from '../adjustments';
import type { Run } from '../../../kit/admin/context';
import { addNoun, ACCOUNT, CURRENCY, reasonedVerb, text } from '../../../kit/admin/options';
import { unclear } from '../../../kit/admin/errors';

export function addAdjustments(admin: Command, run: Run): void {
  const adjustments = addNoun(
    admin,
    'adjustments',
    'Adjustments of a balance, as postings with a reason.',
  );
  reasonedVerb(adjustments, 'create', {
    summary: 'Add to a balance or take from it',
    notes:
      'The merchant sees the reason in the list of transactions. With --operation-id the same ' +
      'command can be sent again: it posts only once, and the result says `replayed`.',
    examples: [
      'adjustments create --currency USDT --amount 250 --direction in --reason "goodwill, ticket 812"',
      'adjustments create --account acc_… --mode live --currency BTC --amount 0.01 --direction out \\\n' +
        '    --reason "sent twice, ticket 900" --operation-id adj_01K6000000000000000000TKT9 --json',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(new Option('--mode <MODE>', 'the balance').choices(MODES).default('test' as const))
    .addOption(CURRENCY)
    .requiredOption('--amount <AMOUNT>', 'more than zero, at most 8 decimals, such as 250', text)
    .addOption(
      new Option('--direction <DIRECTION>', 'in adds, out takes; never below zero')
        .choices(['in', 'out'] as const)
        .makeOptionMandatory(),
    )
    .option('--operation-id <ADJ_ID>', 'adj_ and a ULID of your own (default: a new one)', text)
    .action(({ account, operationId, ...options }) =>
      run(options, async ({ db, by, accountId }) => {
        const { mode, currency, amount, direction, reason } = options;
        const id = operationId ?? newId('adjustment');
        const input = {
          id,
          accountId: await accountId(account),
          mode,
          currency,
          amount,
          direction,
        };
        try {
          return present(await createAdjustment(db, { ...by, reason }, input));
        } catch (error) {
          throw unclear(error, id, 'It is unknown whether the adjustment was posted.', 'posts');
        }
      }),
    );
}

function present(adjustment: AdjustmentResult) {
  const { id, accountId, mode, currency, direction, amount, reason } = adjustment;
  const { replayed, available, reserved } = adjustment;
  return {
    id,
    object: 'adjustment',
    account_id: accountId,
    mode,
    currency,
    direction,
    amount,
    reason,
    replayed,
    available,
    reserved,
  };
}
