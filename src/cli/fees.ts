/** `admin fees`. */
import { DIRECTIONS, type Direction } from '../domain/fees';
import { PROVIDER_CODES } from '../domain/provider-codes';
import { endFee, listFees, setFee } from '../services/admin/fees';
import { listOf, verb, type Context, type Noun, type OptionSpec } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';
import {
  ACCOUNT_OR_DEFAULT,
  CURRENCY,
  readAccountOrDefault,
  readCurrency,
  resolveAccount,
  type AccountOrDefault,
} from './shared-options';

const SCOPE: Record<string, OptionSpec> = {
  ...ACCOUNT_OR_DEFAULT,
  direction: { value: 'payin|payout', help: 'which way the money goes' },
  provider: { value: 'CODE', help: PROVIDER_CODES.join(' or ') },
  ...CURRENCY,
};

interface Scope {
  account: AccountOrDefault;
  direction: Direction;
  provider: string;
  currency: string;
}

function readScope(options: Options): Scope {
  return {
    account: readAccountOrDefault(options),
    direction: options.requiredOneOf('direction', DIRECTIONS),
    provider: options.required('provider', PROVIDER_CODES.join(' or ')),
    currency: readCurrency(options),
  };
}

async function resolveScope(context: Context, { account, ...scope }: Scope) {
  return { ...scope, accountId: await resolveAccount(context, account) };
}

export const FEES: Noun = {
  summary: 'Service fees, with the time in which each rule holds.',
  verbs: {
    list: verb({
      summary: 'Lists the rules of an account and the defaults, in force and planned',
      notes: ['Where an account has a rule of its own, that one holds.'],
      options: { ...ACCOUNT_OR_DEFAULT, all: { help: 'also the rules that have ended' } },
      examples: ['fees list', 'fees list --default --all --json'],
      read: (options) => ({ account: readAccountOrDefault(options), all: options.flag('all') }),
      run: async (context, { account, all }) =>
        listOf(await listFees(context.db, await resolveAccount(context, account), all)),
      show: (list) =>
        showList(
          list,
          [
            'account_id',
            'direction',
            'provider',
            'currency',
            'percentage',
            'fixed_amount',
            'min_fee',
            'max_fee',
            'valid_from',
            'valid_until',
          ],
          'No fee rule: without one, payouts are refused with `fees_not_configured`.',
        ),
    }),
    set: verb({
      summary: 'Begins a new rule and ends the present one at the same moment',
      notes: [
        'The fee is percentage of the amount plus --fixed, raised to --min-fee, then cut to',
        '--max-fee. What is left out is not there: no fixed part, no minimum, no maximum.',
        'Payouts that exist keep the fee they were made with.',
      ],
      options: {
        ...SCOPE,
        percentage: { value: 'P', help: '0 to 100, at most 4 decimals' },
        fixed: { value: 'AMOUNT', help: 'added to the percentage (0)' },
        'min-fee': { value: 'AMOUNT', help: 'the least it comes to (no minimum)' },
        'max-fee': { value: 'AMOUNT', help: 'the most it comes to (no maximum)' },
        from: { value: 'TIME', help: 'when it begins (now)' },
        until: { value: 'TIME', help: 'when it ends (when the next planned rule begins)' },
      },
      examples: [
        'fees set --default --direction payout --provider onchain_provider --currency USDT --percentage 0.8',
        'fees set --account acc_… --direction payout --provider exchange_pay --currency USDT \\\n' +
          '    --percentage 0.5 --fixed 0.1 --min-fee 0.5 --max-fee 25 --from 2027-01-01 --reason "contract of May"',
      ],
      changes: 'reason optional',
      read: (options) => ({
        scope: readScope(options),
        terms: {
          percentage: options.required('percentage', '0 to 100, such as 0.75'),
          fixed: options.text('fixed'),
          minFee: options.text('min-fee'),
          maxFee: options.text('max-fee'),
        },
        from: options.date('from') ?? null,
        until: options.date('until') ?? null,
      }),
      run: async (context, { scope, ...rule }) =>
        setFee(context.db, context.by, { ...rule, scope: await resolveScope(context, scope) }),
      show: showObject,
    }),
    end: verb({
      summary: 'Ends the rule in force',
      notes: [
        'After an account’s own rule the default holds. After a default without a successor, payouts',
        'are refused with `fees_not_configured`. With --at a planned beginning, that rule is cancelled.',
      ],
      options: { ...SCOPE, at: { value: 'TIME', help: 'when (now)' } },
      examples: [
        'fees end --account acc_… --direction payout --provider exchange_pay --currency USDT',
      ],
      changes: 'reason optional',
      read: (options) => ({ scope: readScope(options), at: options.date('at') ?? null }),
      run: async (context, { scope, at }) =>
        endFee(context.db, context.by, await resolveScope(context, scope), at),
      show: showObject,
    }),
  },
};
