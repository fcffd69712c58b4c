/** Merchant accounts: the changes of the console's pages and of `admin accounts`. */
import {
  findAccount,
  insertAccount,
  lockAccount,
  saveAccount,
  type Account,
} from '../../db/accounts/accounts';
import { listApiKeys } from '../../db/api-keys/api-keys';
import { listAllBalances } from '../../db/ledger/ledger';
import type { Db, Tx } from '../../db/transaction';
import { apiKeyStatus } from '../../domain/api-key';
import { newId } from '../../platform/lib/new-id';
import { presentAccount } from '../../kit/service/admin';
import { AdminRefusal } from '../../kit/service/refusal';
import { defineChange, Text } from '../../kit/service/change';

export { type Account, listAccounts, listAccountsPage } from '../../db/accounts/accounts';

const access = { needs: 'administer' } as const;

export const createAccount = defineChange({
  action: 'account.create',
  access,
  fields: { name: Text(100, { label: 'Name of the merchant' }) },
  run: async (tx, _: object, { name }) => {
    const account = await insertAccount(tx, { id: newId('account'), name });
    return { result: account, audit: auditOfAccount(null, account) };
  },
});

/** @throws AdminRefusal when it is already verified */
export const verifyAccount = {
  title: 'Verify account',
  effect: 'The account can have live keys from now on.',
  ...defineChange({
    action: 'account.verify',
    access,
    fields: {},
    run: (tx, { id }: OneAccount) =>
      changeAccount(tx, id, ({ verifiedAt }) => {
        if (verifiedAt === null) return { verifiedAt: new Date() };
        throw new AdminRefusal({ code: 'account_already_verified', id, verifiedAt });
      }),
  }),
};

/** @throws AdminRefusal when it is already suspended */
export const suspendAccount = {
  title: 'Suspend account',
  effect:
    'Its keys get 403 from the next request on. Payouts in progress continue; a pause of the account ' +
    'holds them too.',
  ...defineChange({
    action: 'account.suspend',
    access,
    fields: {},
    run: (tx, { id }: OneAccount) =>
      changeAccount(tx, id, ({ status }) => {
        if (status === 'active') return { status: 'suspended' };
        throw new AdminRefusal({ code: 'account_already_suspended', id });
      }),
  }),
};

/** @throws AdminRefusal when it is not suspended */
export const reinstateAccount = {
  title: 'Reinstate account',
  effect: 'Its keys work again at once.',
  ...defineChange({
    action: 'account.reinstate',
    access,
    fields: {},
    run: (tx, { id }: OneAccount) =>
      changeAccount(tx, id, ({ status }) => {
        if (status === 'suspended') return { status: 'active' };
        throw new AdminRefusal({ code: 'account_not_suspended', id });
      }),
  }),
};

interface OneAccount {
  id: string;
}

/** @throws AdminRefusal */
export async function showAccount(db: Db, id: string) {
  const account = await requireAccount(db, id);
  const [balances, keys] = [await listAllBalances(db, id), await listApiKeys(db, id)];
  const now = new Date();
  const workingKeys = keys.filter((key) => apiKeyStatus(key, now) === 'working').length;
  return { account, workingKeys, balances };
}

/** @throws AdminRefusal when the account does not exist */
export async function requireAccount(db: Db | Tx, id: string): Promise<Account> {
  return existing(id, await findAccount(db, id));
}

/** Locks the account until the transaction ends. @throws AdminRefusal */
export async function requireLockedAccount(tx: Tx, id: string): Promise<Account> {
  return existing(id, await lockAccount(tx, id));
}

function existing(id: string, account: Account | null): Account {
  if (account !== null) return account;
  throw new AdminRefusal({ code: 'not_found', object: 'account', id });
}

/** Locks the account and saves what `decide` changes. @throws AdminRefusal */
export async function changeAccount(
  tx: Tx,
  id: string,
  decide: (account: Account) => Partial<Account>,
) {
  const account = await requireLockedAccount(tx, id);
  const changed = { ...account, ...decide(account) };
  await saveAccount(tx, changed);
  return { result: changed, audit: auditOfAccount(account, changed) };
}

function auditOfAccount(before: Account | null, after: Account) {
  return {
    object: 'account',
    objectId: after.id,
    accountId: after.id,
    before: before === null ? null : presentAccount(before),
    after: presentAccount(after),
  };
}
