/** `admin accounts`. */
import {
  createAccount,
  listAccounts,
  reinstateAccount,
  showAccount,
  suspendAccount,
  verifyAccount,
} from '../services/admin/accounts';
import { listOf, verb, type Noun } from './command';
import { showList, showObject } from './output';
import type { Options } from './options';
import { ACCOUNT, LIMITED, readLimit } from './shared-options';

/** A change to an account is never made to the demo merchant by leaving something out. */
const THE_ACCOUNT = { account: { value: 'ACC_ID', help: 'the account' } };

const readAccount = (options: Options): string =>
  options.required('account', '`accounts list` shows the ids, acc_…');

export const ACCOUNTS: Noun = {
  summary: 'Merchant accounts.',
  verbs: {
    create: verb({
      summary: 'Makes an account, which is active and not verified',
      options: { name: { value: 'TEXT', help: "the merchant's name" } },
      examples: ['accounts create --name "Example Shop" --json'],
      changes: 'reason optional',
      read: (options) => ({ name: options.required('name', 'the merchant’s name') }),
      run: ({ db, by }, input) => createAccount(db, by, input),
      show: showObject,
    }),
    list: verb({
      summary: 'Lists the accounts, newest first',
      options: LIMITED,
      examples: ['accounts list', 'accounts list --limit 10 --json'],
      read: readLimit,
      run: async ({ db }, limit) => listOf(await listAccounts(db, limit + 1), limit),
      show: (list) =>
        showList(
          list,
          ['id', 'name', 'status', 'verified_at', 'created_at'],
          'No account yet: `accounts create` makes one.',
        ),
    }),
    show: verb({
      summary: 'Shows an account with its balances',
      subject: 'account',
      options: ACCOUNT,
      examples: ['accounts show', 'accounts show acc_… --json'],
      read: (options) => options.text('account'),
      run: async ({ db, accountId }, asked) => showAccount(db, await accountId(asked)),
      show: ({ balances, ...account }) =>
        `${showObject(account)}\n${showList(
          listOf(balances),
          ['mode', 'currency', 'available', 'reserved'],
          'No money has moved yet.',
        )}`,
    }),
    verify: verb({
      summary: 'Marks an account as verified, so that it can have live keys',
      subject: 'account',
      options: THE_ACCOUNT,
      examples: ['accounts verify acc_… --reason "register extract of 3 May"'],
      changes: 'reason optional',
      read: readAccount,
      run: ({ db, by }, id) => verifyAccount(db, by, id),
      show: showObject,
    }),
    suspend: verb({
      summary: 'Suspends an account: its keys get 403 from the next request on',
      notes: ['Payouts on their way go on; `payouts pause --account` holds those too.'],
      subject: 'account',
      options: THE_ACCOUNT,
      examples: ['accounts suspend acc_… --reason "chargeback dispute 4711"'],
      changes: 'reason optional',
      read: readAccount,
      run: ({ db, by }, id) => suspendAccount(db, by, id),
      show: showObject,
    }),
    reinstate: verb({
      summary: 'Lets a suspended account back in',
      subject: 'account',
      options: THE_ACCOUNT,
      examples: ['accounts reinstate acc_… --reason "dispute settled"'],
      changes: 'reason optional',
      read: readAccount,
      run: ({ db, by }, id) => reinstateAccount(db, by, id),
      show: showObject,
    }),
  },
};
