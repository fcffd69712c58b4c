/** `admin payouts`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { PROVIDER_CODES, type ProviderCode } from '../domain/provider-codes';
import { presentPause } from '../presenters/admin';
import {
  listPauses,
  pausePayouts,
  resumePayouts,
  type PausedPayouts,
} from '../services/admin/payouts';
import { resumeHeldPayouts } from '../temporal/payout-workflows';
import type { Run } from './admin';
import { addLost } from './lost';
import { addNoun, changeVerb, readVerb, reasonedVerb, text } from './options';
import { listOf, showList, showObject } from './output';

const PROVIDER = new Option('--provider <CODE>', 'only through this provider').choices(
  PROVIDER_CODES,
);

const ACCOUNT = new Option('--account <ACC_ID>', 'only of this account')
  .argParser(text)
  .conflicts('provider');

/** Unlike elsewhere, no account means all accounts: an urgent pause should be short to type. */
function paused(options: {
  provider?: ProviderCode | undefined;
  account?: string | undefined;
}): PausedPayouts {
  if (options.provider !== undefined) return { scope: 'provider', target: options.provider };
  if (options.account !== undefined) return { scope: 'account', target: options.account };
  return { scope: 'global', target: '' };
}

export function addPayouts(admin: Command, run: Run): void {
  const payouts = addNoun(
    admin,
    'payouts',
    'Pauses of payouts, and what a restore lost. To approve or reject a payout, signal its workflow.',
  );
  reasonedVerb(payouts, 'pause', {
    summary: 'Pause all payouts, or those of one provider or one account',
    notes:
      'New requests get 503, approved payouts wait before submission, and no reservation is lost. ' +
      'Submitted payouts continue.',
    examples: [
      'payouts pause --reason "hot wallet is moved"',
      'payouts pause --provider onchain_provider --reason "maintenance until 14:00"',
      'payouts pause --account acc_… --reason "keys may have leaked"',
    ],
  })
    .addOption(PROVIDER)
    .addOption(ACCOUNT)
    .action((options) =>
      run(options, async ({ db, by }) =>
        presentPause(await pausePayouts(db, { ...by, reason: options.reason }, paused(options))),
      ),
    );
  changeVerb(payouts, 'resume', {
    summary: 'Lift one pause; the others stay',
    notes:
      'Held payouts continue within 5 seconds; within 15 if TEMPORAL_ADDRESS is not set or Temporal ' +
      'does not respond.',
    examples: ['payouts resume', 'payouts resume --provider onchain_provider'],
  })
    .addOption(PROVIDER)
    .addOption(ACCOUNT)
    .action((options) =>
      run(
        options,
        async ({ db, by, temporal }) => {
          const wakeHeld = async () => resumeHeldPayouts(temporal());
          return presentPause(await resumePayouts(db, by, paused(options), wakeHeld));
        },
        (pause) => `Lifted:\n${showObject(pause)}`,
      ),
    );
  readVerb(payouts, 'pauses', {
    summary: 'List the pauses',
    examples: ['payouts pauses', 'payouts pauses --json'],
  }).action((options) =>
    run(
      options,
      async ({ db }) => listOf((await listPauses(db)).map(presentPause)),
      (list) => showList(list, ['scope', 'target', 'reason', 'created_at'], 'Nothing is paused.'),
    ),
  );
  addLost(payouts, run, 'payout');
}
