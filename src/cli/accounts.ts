/** `admin accounts`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { presentAccount } from '../presenters/admin';
import {
  createAccount,
  listAccounts,
  reinstateAccount,
  showAccount,
  suspendAccount,
  verifyAccount,
} from '../services/admin/accounts';
import type { Run } from './context';
import {
  addNoun,
  changeVerb,
  LIMIT_OPTION,
  readVerb,
  requireId,
  text,
  type VerbTexts,
} from './options';
import { listOf, showList, showObject } from './output';

const WHERE = '`accounts list` lists the ids (acc_…).';

/** Changes of an account itself never default to the demo merchant. */
const THE_ACCOUNT = new Option('--account <ACC_ID>', 'the account').argParser(text);

export function addAccounts(admin: Command, run: Run): void {
  const accounts = addNoun(admin, 'accounts', 'Merchant accounts.');
  changeVerb(accounts, 'create', {
    summary: 'Create an account, active and not verified',
    examples: ['accounts create --name "Example Shop" --json'],
  })
    .requiredOption('--name <TEXT>', "the merchant's name", text)
    .action((options) =>
      run(options, async ({ db, by }) => presentAccount(await createAccount(db, by, options))),
    );
  readVerb(accounts, 'list', {
    summary: 'List the accounts, newest first',
    examples: ['accounts list', 'accounts list --limit 10 --json'],
  })
    .addOption(LIMIT_OPTION)
    .action((options) =>
      run(
        options,
        async ({ db }) =>
          listOf((await listAccounts(db, options.limit + 1)).map(presentAccount), options.limit),
        (list) =>
          showList(
            list,
            ['id', 'name', 'status', 'verified_at', 'created_at'],
            'No accounts. `accounts create` creates one.',
          ),
      ),
    );
  readVerb(accounts, 'show', {
    summary: 'Show an account with its balances',
    notes: 'In development the default is the demo merchant.',
    examples: ['accounts show', 'accounts show acc_… --json'],
  })
    .argument('[account]', 'the account', text)
    .addOption(THE_ACCOUNT)
    .action((argument, options) =>
      run(
        options,
        async ({ db, accountId }) => {
          const asked =
            argument === undefined ? options.account : requireId(argument, options, WHERE);
          const { account, workingKeys, balances } = await showAccount(db, await accountId(asked));
          return { ...presentAccount(account), working_keys: workingKeys, balances };
        },
        ({ balances, ...account }) =>
          `${showObject(account)}\n${showList(
            listOf(balances),
            ['mode', 'currency', 'available', 'reserved'],
            'No balances.',
          )}`,
      ),
    );
  const addChange = (name: string, change: typeof verifyAccount, texts: VerbTexts) =>
    changeVerb(accounts, name, texts)
      .argument('[account]', 'the account', text)
      .addOption(THE_ACCOUNT)
      .action((argument, options) => {
        const id = requireId(argument, { account: options.account }, WHERE);
        return run(options, async ({ db, by }) => presentAccount(await change(db, by, id)));
      });
  addChange('verify', verifyAccount, {
    summary: 'Mark an account as verified, so that it can have live keys',
    examples: ['accounts verify acc_… --reason "register extract of 3 May"'],
  });
  addChange('suspend', suspendAccount, {
    summary: 'Suspend an account: its keys get 403 from the next request on',
    notes: 'Payouts in progress continue; `payouts pause --account` holds those too.',
    examples: ['accounts suspend acc_… --reason "chargeback dispute 4711"'],
  });
  addChange('reinstate', reinstateAccount, {
    summary: 'Reinstate a suspended account',
    examples: ['accounts reinstate acc_… --reason "dispute settled"'],
  });
}
