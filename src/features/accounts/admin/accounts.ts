/** `admin accounts`. */
import type { Command } from '@commander-js/extra-typings';
import { presentAccount } from '../../../kit/service/admin';
import {
  createAccount,
  listAccounts,
  reinstateAccount,
  showAccount,
  suspendAccount,
  verifyAccount,
} from '../accounts';
import { ruleSecondPerson } from '../../approvals/second-person';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  changeVerb,
  LIMIT_OPTION,
  readVerb,
  requireId,
  runList,
  runOn,
  text,
} from '../../../kit/admin/options';
import { listOf, showList, showObject } from '../../../kit/admin/output';

/** The account of a change; unlike elsewhere, it never defaults to the demo merchant. */
const ONE_ACCOUNT = {
  name: 'account',
  option: 'account',
  value: 'ACC_ID',
  where: '`accounts list` lists the ids (acc_…).',
} as const;

export function addAccounts(admin: Command, run: Run): void {
  const accounts = addNoun(admin, 'accounts', 'Merchant accounts.');
  const create = changeVerb(accounts, 'create', {
    summary: 'Create an account, active and not verified',
    examples: ['accounts create --name "Example Shop" --json'],
  });
  addFields(create, createAccount);
  create.action((options) =>
    run(options, async ({ db, by }) =>
      presentAccount(await createAccount.make(db, by, {}, inputOf(createAccount, options))),
    ),
  );
  runList(
    run,
    readVerb(accounts, 'list', {
      summary: 'List the accounts, newest first',
      examples: ['accounts list', 'accounts list --limit 10 --json'],
    }).addOption(LIMIT_OPTION),
    async ({ db }, { limit }) => (await listAccounts(db, limit + 1)).map(presentAccount),
    ['id', 'name', 'status', 'verified_at', 'created_at'],
    'No accounts. `accounts create` creates one.',
  );
  readVerb(accounts, 'show', {
    summary: 'Show an account with its balances',
    notes: 'In development the default is the demo merchant.',
    examples: ['accounts show', 'accounts show acc_… --json'],
  })
    .argument('[account]', 'the account', text)
    .option('--account <ACC_ID>', 'the account', text)
    .action((argument, options) =>
      run(
        options,
        async ({ db, accountId }) => {
          const asked =
            argument === undefined
              ? options.account
              : requireId(argument, options.account, ONE_ACCOUNT);
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
  const second = changeVerb(accounts, 'second-person', {
    summary:
      'Set the amounts above which another owner approves what one requests on the dashboard',
    notes: 'What is left out needs no second person.',
    examples: [
      'accounts second-person --account acc_… --above USDT=1000 --reason "agreed in writing"',
    ],
  }).option('--account <ACC_ID>', 'the account', text);
  addFields(second, ruleSecondPerson);
  second.action((options) =>
    run(options, async ({ db, by, accountId }) => {
      const subject = { accountId: await accountId(options.account), mayLoosen: true };
      return ruleSecondPerson.make(db, by, subject, inputOf(ruleSecondPerson, options));
    }),
  );
  const addChange = (name: string, change: typeof verifyAccount, examples: string[]) => {
    const texts = { summary: change.title, notes: change.effect, examples };
    runOn(run, changeVerb(accounts, name, texts), ONE_ACCOUNT, async ({ db, by }, id) =>
      presentAccount(await change.make(db, by, { id }, {})),
    );
  };
  addChange('verify', verifyAccount, [
    'accounts verify acc_… --reason "register extract of 3 May"',
  ]);
  addChange('suspend', suspendAccount, [
    'accounts suspend acc_… --reason "chargeback dispute 4711"',
  ]);
  addChange('reinstate', reinstateAccount, ['accounts reinstate acc_… --reason "dispute settled"']);
}
