/** `admin payouts`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { listConsolePayouts, PAYOUT_WAITS } from '../../../db/payouts/console-payouts';
import type { Db } from '../../../db/transaction';
import { type Mode, MODES } from '../../../domain/mode';
import { PROVIDER_CODES, type ProviderCode } from '../../../domain/provider-codes';
import { presentPause, presentPayoutForOperator } from '../../../kit/service/admin';
import {
  listPauses,
  pausePayouts,
  resumePayouts,
  type PausedPayouts,
} from '../../accounts/payout-pauses';
import { requirePayout } from '../payout-reviews';
import { resumeHeldPayouts } from '../../../temporal/payout-workflows';
import { inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import { addLost } from './lost';
import {
  addNoun,
  LIMIT_OPTION,
  changeVerb,
  readVerb,
  reasonedVerb,
  runList,
  runOn,
  text,
} from '../../../kit/admin/options';
import { listOf, showList, showObject } from '../../../kit/admin/output';

const PROVIDER = new Option('--provider <CODE>', 'only through this provider').choices(
  PROVIDER_CODES,
);

const ACCOUNT = new Option('--account <ACC_ID>', 'only of this account')
  .argParser(text)
  .conflicts('provider');

const MODE = new Option('--mode <MODE>', 'only in this mode; otherwise in both').choices(MODES);

const PAYOUT = { name: 'payout', value: 'PO_ID', where: 'The console lists payouts.' };

const PAUSE = { name: 'pause', value: 'PAUSE_ID', where: '`payouts pauses` lists the ids.' };

/** Unlike elsewhere, no account means all accounts: an urgent pause should be short to type. */
function paused(options: {
  provider?: ProviderCode | undefined;
  account?: string | undefined;
  mode?: Mode | undefined;
}): PausedPayouts {
  const mode = options.mode ?? null;
  if (options.provider !== undefined) return { scope: 'provider', target: options.provider, mode };
  if (options.account !== undefined) return { scope: 'account', target: options.account, mode };
  return { scope: 'global', target: '', mode };
}

export function addPayouts(admin: Command, run: Run): void {
  const payouts = addNoun(
    admin,
    'payouts',
    'What payouts wait for, their pauses, and what a restore lost. To approve or reject a payout, signal its workflow.',
  );
  const show = readVerb(payouts, 'show', {
    summary: 'Show a payout, and what each of its conditions waits for',
    examples: ['payouts show po_…', 'payouts show po_… --json'],
  });
  runOn(
    run,
    show,
    PAYOUT,
    async ({ db }, id) => presentPayoutForOperator(await requirePayout(db, id)),
    ({ conditions, ...payout }) =>
      showObject(payout) +
      showList(listOf(conditions), ['type', 'waits_for', 'met_at'], 'It waits for no conditions.'),
  );
  reasonedVerb(payouts, 'pause', {
    summary: 'Pause all payouts, or those of one provider or one account',
    notes:
      'New requests are refused, approved payouts wait before submission, and no reservation is lost. ' +
      'Submitted payouts continue. Several pauses can hold the same payouts.',
    examples: [
      'payouts pause --reason "hot wallet is moved"',
      'payouts pause --provider onchain_provider --reason "maintenance until 14:00"',
      'payouts pause --account acc_… --mode live --reason "keys may have leaked"',
    ],
  })
    .addOption(PROVIDER)
    .addOption(ACCOUNT)
    .addOption(MODE)
    .action((options) =>
      run(options, async ({ db, by }) =>
        presentPause(
          await pausePayouts.make(db, by, paused(options), inputOf(pausePayouts, options)),
        ),
      ),
    );
  const resume = changeVerb(payouts, 'resume', {
    summary: 'Lift one pause; the others stay',
    notes:
      'Payouts that no other pause holds continue within 5 seconds; within 15 if TEMPORAL_ADDRESS is not set or Temporal ' +
      'does not respond.',
    examples: ['payouts resume 12', 'payouts resume 12 --reason "wallet is refilled"'],
  });
  runOn(
    run,
    resume,
    PAUSE,
    async ({ db, by, temporal }, id) => {
      const wakeHeld = async () => resumeHeldPayouts(temporal());
      return presentPause(await resumePayouts.make(db, by, { id, wakeHeld }, {}));
    },
    (pause) => `Lifted:\n${showObject(pause)}`,
  );
  runList(
    run,
    readVerb(payouts, 'pauses', {
      summary: 'List the pauses',
      examples: ['payouts pauses', 'payouts pauses --json'],
    }),
    async ({ db }) => (await listPauses(db)).map(presentPause),
    ['id', 'scope', 'target', 'mode', 'reason', 'created_by', 'created_at'],
    'Nothing is paused.',
  );
  runList(
    run,
    readVerb(payouts, 'attention', {
      summary: 'List the payouts that wait longer than they should, and why',
      notes:
        '`overdue`: its release time or its expiry passed more than a minute ago. `stuck`: the provider ' +
        'accepted it, and gives no result. `in_doubt`: the provider has not confirmed that it has it.',
      examples: ['payouts attention', 'payouts attention --json'],
    }).addOption(LIMIT_OPTION),
    ({ db }, { limit }) => listAttention(db, limit),
    ['id', 'cause', 'status', 'mode', 'amount', 'currency', 'account_id', 'created_at'],
    'No payout waits longer than it should.',
  );
  addLost(payouts, run, 'payout');
}

/** One more than `limit` of each cause, the newest first. */
async function listAttention(db: Db, limit: number) {
  const lists = await Promise.all(
    PAYOUT_WAITS.map(async (wait) => {
      const { items } = await listConsolePayouts(db, {
        limit: limit + 1,
        after: null,
        filters: { wait },
      });
      return items.map((payout) => ({ ...presentPayoutForOperator(payout), cause: wait }));
    }),
  );
  return lists.flat();
}
