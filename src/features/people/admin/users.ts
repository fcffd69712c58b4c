/** `admin users`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MERCHANT_ROLES, OPERATOR_ROLES, USER_KINDS } from '../../../domain/users';
import { presentUser } from '../../../kit/service/admin';
import {
  createUser,
  disableUser,
  listUsers,
  resetPassword,
  type HandedOver,
  resetSecondFactor,
  type UserWithPassword,
  vouchForUser,
} from '../users';
import { linkOperator } from '../single-sign-on';
import { requireSecondFactor } from '../second-factors';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  ACCOUNT,
  changeVerb,
  readVerb,
  runList,
  text,
  type VerbTexts,
} from '../../../kit/admin/options';
import { showObject } from '../../../kit/admin/output';

const KIND = new Option('--kind <KIND>', 'merchant (dashboard) or operator (console)')
  .choices(USER_KINDS)
  .makeOptionMandatory();
const EMAIL = '--email <ADDRESS>';

export function addUsers(admin: Command, run: Run): void {
  const users = addNoun(admin, 'users', 'People who sign in to the dashboard and the console.');
  addCreate(users, run);
  runList(
    run,
    readVerb(users, 'list', { summary: 'List all users', examples: ['users list --json'] }),
    async ({ db }) =>
      (await listUsers(db)).map(({ memberships, ...user }) => ({
        ...presentUser(user),
        accounts: memberships.map(({ accountId, role }) => `${accountId} (${role})`),
      })),
    [
      'kind',
      'email',
      'operator_role',
      'accounts',
      'bound_account_id',
      'last_sign_in_at',
      'disabled_at',
    ],
    'No users. `users create` creates one.',
  );
  addChange(users, run, 'disable', (...user) => disableUser(...user, true), {
    summary: 'Refuse sign-ins of a user and end all sessions',
    examples: ['users disable --kind merchant --email shop@example.com --reason "has left"'],
  });
  addChange(users, run, 'enable', (...user) => disableUser(...user, false), {
    summary: 'Allow sign-ins of a disabled user again',
    examples: ['users enable --kind merchant --email shop@example.com'],
  });
  addPasswords(users, run);
  addLinks(users, run);
  addChange(users, run, 'reset-second-factor', resetSecondFactor, {
    summary: 'Remove the second factors of a user who lost them, and end all sessions',
    notes: 'The user signs in with the password alone and can set up a new second factor.',
    examples: ['users reset-second-factor --kind operator --email alice@example.com'],
  });
  addRequirement(users, run);
}

function addChange(
  users: Command,
  run: Run,
  name: string,
  change: typeof resetSecondFactor,
  texts: VerbTexts,
): void {
  changeVerb(users, name, texts)
    .addOption(KIND)
    .requiredOption(EMAIL, 'the user', text)
    .action(({ kind, email, ...options }) =>
      run(options, async ({ db, by }) => presentUser(await change(db, by, kind, email))),
    );
}

function addCreate(users: Command, run: Run): void {
  changeVerb(users, 'create', {
    summary: 'Create a user and show the generated password once',
    notes: 'The same email address can be a merchant and an operator, with two passwords.',
    examples: [
      'users create --kind operator --email alice@example.com --role admin',
      'users create --kind merchant --email shop@example.com --role owner --account acc_…',
    ],
  })
    .addOption(KIND)
    .requiredOption(EMAIL, 'the email address to sign in with', text)
    .requiredOption(
      '--role <ROLE>',
      `merchant: ${MERCHANT_ROLES.join(', ')}; operator: ${OPERATOR_ROLES.join(', ')}`,
      text,
    )
    .addOption(ACCOUNT)
    .action(({ kind, email, role, ...options }) =>
      run(
        options,
        async ({ db, by, accountId }) => {
          const account = kind === 'merchant' ? await accountId(options.account) : null;
          const wish = { kind, email, role, accountId: account, password: null };
          return presentWithPassword(await createUser(db, by, wish));
        },
        showWithPassword,
      ),
    );
}

/** The verbs that give a user a new password. */
function addPasswords(users: Command, run: Run): void {
  changeVerb(users, 'reset-password', {
    summary: 'Give a user a new password, show it once, and end all sessions',
    notes:
      'The second factors are removed, because somebody else may have set them up. The answer says which. ' +
      'Check first that the email address belongs to the person who asks.',
    examples: ['users reset-password --kind operator --email alice@example.com'],
  })
    .addOption(KIND)
    .requiredOption(EMAIL, 'the user', text)
    .action(({ kind, email, ...options }) =>
      run(
        options,
        async ({ db, by }) => presentHandedOver(await resetPassword(db, by, kind, email)),
        showWithPassword,
      ),
    );
  changeVerb(users, 'vouch', {
    summary: 'Confirm that the address of an invited user belongs to the person',
    notes:
      'A user whom an account invited acts in that account only, until an operator vouches. Check that the ' +
      'person reads mail sent to the address. The user gets a new password, which is shown once; all sessions ' +
      'and the earlier second factors are removed.',
    examples: ['users vouch --email shop@example.com --reason "answered from the address"'],
  })
    .requiredOption(EMAIL, 'the user of the dashboard', text)
    .action(({ email, ...options }) =>
      run(
        options,
        async ({ db, by }) => presentHandedOver(await vouchForUser(db, by, email)),
        showWithPassword,
      ),
    );
}

/** The link of an operator to a person of the single sign-on provider. */
function addLinks(users: Command, run: Run): void {
  changeVerb(users, 'link', {
    summary: 'Link an operator to a subject of the single sign-on provider, and end all sessions',
    notes:
      'For an operator who cannot link on the page, or after a change of the provider. Check at the provider ' +
      'that the subject is this person: whoever has it signs in as this operator. It replaces an earlier link.',
    examples: [
      'users link --email alice@example.com --issuer https://sso.example.com --subject 00u1a2b3',
    ],
  })
    .requiredOption(EMAIL, 'the operator', text)
    .requiredOption('--issuer <URL>', 'the provider, as in OIDC_ISSUER', text)
    .requiredOption('--subject <SUBJECT>', 'the claim `sub` of the person', text)
    .action(({ email, issuer, subject, ...options }) =>
      run(options, ({ db, by }) => linkOperator(db, by, email, { issuer, subject })),
    );
  changeVerb(users, 'unlink', {
    summary: 'Remove the link of an operator to the single sign-on provider, and end all sessions',
    notes: 'The next single sign-on with this email address asks for the password.',
    examples: ['users unlink --email alice@example.com --reason "linked to a wrong person"'],
  })
    .requiredOption(EMAIL, 'the operator', text)
    .action(({ email, ...options }) =>
      run(options, ({ db, by }) => linkOperator(db, by, email, null)),
    );
}

function addRequirement(users: Command, run: Run): void {
  changeVerb(users, 'require-second-factor', {
    summary: 'Require two-step verification of everybody in an account, or of all operators',
    notes: 'People without one can only set one up. With --off, it is no longer required.',
    examples: [
      'users require-second-factor --kind operator',
      'users require-second-factor --kind merchant --account acc_… --off',
    ],
  })
    .addOption(KIND)
    .addOption(ACCOUNT)
    .option('--off', 'no longer require it')
    .action(({ kind, off, ...options }) =>
      run(options, async ({ db, by, accountId }) => {
        const account = kind === 'merchant' ? await accountId(options.account) : null;
        const required = off !== true;
        await requireSecondFactor(db, by, account, required);
        return { object: 'second_factor_policy', kind, account_id: account, required };
      }),
    );
}

function presentWithPassword({ password, ...user }: UserWithPassword) {
  return { ...presentUser(user), password };
}

function presentHandedOver({ removed, ...user }: HandedOver) {
  const { totp, passkeys } = removed;
  return { totp_removed: totp, passkeys_removed: passkeys, ...presentWithPassword(user) };
}

function showWithPassword({ password, ...document }: { password: string }): string {
  return `${showObject(document)}\n${password}\nThe password is shown only once.\n`;
}
