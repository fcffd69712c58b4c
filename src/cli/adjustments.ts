/** `admin adjustments`. */
import { MODES } from '../domain/mode';
import { newId } from '../lib/new-id';
import { createAdjustment } from '../services/admin/adjustments';
import { verb, type Noun } from './command';
import { unclear } from './error-sentence';
import { showObject } from './output';
import { ACCOUNT, CURRENCY, readCurrency } from './shared-options';

export const ADJUSTMENTS: Noun = {
  summary: 'Corrections of a balance, as postings with a reason.',
  verbs: {
    create: verb({
      summary: 'Adds to a balance or takes from it',
      notes: [
        'The merchant sees the reason among the transactions. With --operation-id the same command',
        'can be sent again: it posts once, and the answer says `replayed`.',
      ],
      options: {
        ...ACCOUNT,
        mode: { value: 'test|live', help: 'whose balance (test)' },
        ...CURRENCY,
        amount: { value: 'AMOUNT', help: 'more than zero, at most 8 decimals' },
        direction: { value: 'in|out', help: 'in adds, out takes; never below zero' },
        'operation-id': { value: 'ADJ_ID', help: 'adj_ and a ULID of your own (a new one)' },
      },
      examples: [
        'adjustments create --currency USDT --amount 250 --direction in --reason "goodwill, ticket 812"',
        'adjustments create --account acc_… --mode live --currency BTC --amount 0.01 --direction out \\\n' +
          '    --reason "sent twice, ticket 900" --operation-id adj_01K6000000000000000000TKT9 --json',
      ],
      changes: 'reason required',
      read: (options) => ({
        account: options.text('account'),
        id: options.text('operation-id') ?? newId('adjustment'),
        mode: options.oneOf('mode', MODES) ?? 'test',
        currency: readCurrency(options),
        amount: options.required('amount', 'more than zero, such as 250'),
        direction: options.requiredOneOf('direction', ['in', 'out']),
      }),
      run: async ({ db, by, accountId }, { account, ...input }) => {
        const adjustment = { ...input, accountId: await accountId(account) };
        try {
          return await createAdjustment(db, { ...by, reason: by.reason ?? '' }, adjustment);
        } catch (error) {
          throw unclear(error, input.id, 'It is not known whether this was posted.', 'posts');
        }
      },
      show: showObject,
    }),
  },
};
