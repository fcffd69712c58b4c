/** Merchant accounts, for an operator: create, verify, suspend, reinstate. */
import {
  findAccount,
  insertAccount,
  lockAccount,
  saveAccount,
  type Account,
} from '../../db/repositories/accounts';
import { listApiKeys } from '../../db/repositories/api-keys';
import { listAllBalances } from '../../db/repositories/ledger';
import type { Db, Tx } from '../../db/transaction';
import { apiKeyStatus } from '../../domain/api-key';
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import { newId } from '../../lib/new-id';
import { presentAccount } from '../../presenters/admin';
import { makeChange, type ChangedBy } from './audit';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

export { listAccounts } from '../../db/repositories/accounts';

const NAME_LENGTH_MAX = 100;

export async function createAccount(
  db: Db,
  by: ChangedBy,
  input: { name: string },
): Promise<Account> {
  const name = checkText('name', input.name, NAME_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    const account = await insertAccount(tx, { id: newId('account'), name });
    return {
      result: account,
      audit: {
        action: 'account.create',
        object: 'account',
        objectId: account.id,
        accountId: account.id,
        before: null,
        after: presentAccount(account),
      },
    };
  });
}

export interface AccountOverview {
  account: Account;
  workingKeys: number;
  balances: { mode: Mode; currency: string; available: Amount; reserved: Amount }[];
}

/** @throws AdminRefusal */
export async function showAccount(db: Db, id: string): Promise<AccountOverview> {
  const account = await requireAccount(db, id);
  const [balances, keys] = [await listAllBalances(db, id), await listApiKeys(db, id)];
  const now = new Date();
  const workingKeys = keys.filter((key) => apiKeyStatus(key, now) === 'working').length;
  return { account, workingKeys, balances };
}

/** Allows live keys from now on. @throws AdminRefusal when it is already verified */
export function verifyAccount(db: Db, by: ChangedBy, id: string): Promise<Account> {
  return changeAccount(db, by, id, 'account.verify', (account) => {
    if (account.verifiedAt !== null) {
      throw new AdminRefusal({
        code: 'account_already_verified',
        id,
        verifiedAt: account.verifiedAt,
      });
    }
    return { verifiedAt: new Date() };
  });
}

/** Its keys get 403 from the next request on; payouts in progress continue. @throws AdminRefusal */
export function suspendAccount(db: Db, by: ChangedBy, id: string): Promise<Account> {
  return changeAccount(db, by, id, 'account.suspend', ({ status }) => {
    if (status === 'suspended') throw new AdminRefusal({ code: 'account_already_suspended', id });
    return { status: 'suspended' };
  });
}

/** @throws AdminRefusal when it is not suspended */
export function reinstateAccount(db: Db, by: ChangedBy, id: string): Promise<Account> {
  return changeAccount(db, by, id, 'account.reinstate', ({ status }) => {
    if (status === 'active') throw new AdminRefusal({ code: 'account_not_suspended', id });
    return { status: 'active' };
  });
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

async function changeAccount(
  db: Db,
  by: ChangedBy,
  id: string,
  action: string,
  decide: (account: Account) => Partial<Account>,
): Promise<Account> {
  return makeChange(db, by, async (tx) => {
    const account = await requireLockedAccount(tx, id);
    const changed = { ...account, ...decide(account) };
    await saveAccount(tx, changed);
    return {
      result: changed,
      audit: {
        action,
        object: 'account',
        objectId: id,
        accountId: id,
        before: presentAccount(account),
        after: presentAccount(changed),
      },
    };
  });
}
