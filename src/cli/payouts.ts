/** `admin payouts`. */
import { PROVIDER_CODES } from '../domain/provider-codes';
import { UsageError } from '../lib/command-line';
import { listPauses, pausePayouts, resumePayouts } from '../services/admin/payouts';
import { listOf, verb, type Noun, type OptionSpec } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';

const WHAT: Record<string, OptionSpec> = {
  provider: { value: 'CODE', help: `only through ${PROVIDER_CODES.join(' or ')}` },
  account: { value: 'ACC_ID', help: 'only of this account' },
};

/** Unlike elsewhere, no account means everybody: to pause in a hurry should take few words. */
function readWhat(options: Options) {
  const [provider, account] = [options.text('provider'), options.text('account')];
  if (provider !== undefined && account !== undefined) {
    throw new UsageError('--provider and --account are two pauses: give one of them at a time.');
  }
  if (provider !== undefined) return { scope: 'provider' as const, target: provider };
  if (account !== undefined) return { scope: 'account' as const, target: account };
  return { scope: 'global' as const, target: '' };
}

export const PAYOUTS: Noun = {
  summary: 'The pause of payouts. To approve or reject one, signal its workflow.',
  verbs: {
    pause: verb({
      summary: 'Pauses all payouts, or those of one provider or one account',
      notes: [
        'New requests get 503, approved payouts wait before submission, and no reservation is lost.',
        'What was submitted already goes on.',
      ],
      options: WHAT,
      examples: [
        'payouts pause --reason "hot wallet is moved"',
        'payouts pause --provider onchain_provider --reason "maintenance until 14:00"',
        'payouts pause --account acc_… --reason "keys may have leaked"',
      ],
      changes: 'reason required',
      read: readWhat,
      run: ({ db, by }, what) => pausePayouts(db, { ...by, reason: by.reason ?? '' }, what),
      show: showObject,
    }),
    resume: verb({
      summary: 'Lifts one pause; the others stay',
      options: WHAT,
      examples: ['payouts resume', 'payouts resume --provider onchain_provider'],
      changes: 'reason optional',
      read: readWhat,
      run: ({ db, by }, what) => resumePayouts(db, by, what),
      show: (pause) => `Lifted:\n${showObject(pause)}`,
    }),
    pauses: verb({
      summary: 'Lists what is paused',
      options: {},
      examples: ['payouts pauses', 'payouts pauses --json'],
      read: () => null,
      run: async ({ db }) => listOf(await listPauses(db)),
      show: (list) =>
        showList(list, ['scope', 'target', 'reason', 'created_at'], 'Nothing is paused.'),
    }),
  },
};
