/** Merchant accounts, for an operator: made, verified, suspended and let back in. */
import {
  findAccount,
  insertAccount,
  listAccounts as readAccounts,
  lockAccount,
  saveAccount,
  type Account,
} from '../../db/repositories/accounts';
import { listApiKeys } from '../../db/repositories/api-keys';
import { listAllBalances } from '../../db/repositories/ledger';
import type { Db, Tx } from '../../db/transaction';
import { newId } from '../../lib/new-id';
import { makeChange, type ChangedBy } from './change';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

const NAME_LENGTH_MAX = 100;

export function presentAccount(account: Account) {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    status: account.status,
    verified_at: account.verifiedAt?.toISOString() ?? null,
    review_all: account.reviewAll,
    rehearse_review: account.rehearseReview,
    created_at: account.createdAt.toISOString(),
  };
}

export type ShownAccount = ReturnType<typeof presentAccount>;

export async function createAccount(
  db: Db,
  by: ChangedBy,
  input: { name: string },
): Promise<ShownAccount> {
  const name = checkText('name', input.name, NAME_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    const account = presentAccount(await insertAccount(tx, { id: newId('account'), name }));
    return {
      result: account,
      audit: {
        action: 'account.create',
        object: 'account',
        objectId: account.id,
        accountId: account.id,
        before: null,
        after: account,
      },
    };
  });
}

/** Newest first. */
export async function listAccounts(db: Db, limit: number): Promise<ShownAccount[]> {
  return (await readAccounts(db, limit)).map(presentAccount);
}

/** The account with its balances and how many keys work. @throws AdminRefusal */
export async function showAccount(db: Db, id: string) {
  const account = await requireAccount(db, id);
  const [balances, keys] = [await listAllBalances(db, id), await listApiKeys(db, id)];
  const now = new Date();
  return {
    ...presentAccount(account),
    working_keys: keys.filter(
      ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
    ).length,
    balances,
  };
}

/** From here on live keys can be made. @throws AdminRefusal when it is verified already */
export function verifyAccount(db: Db, by: ChangedBy, id: string): Promise<ShownAccount> {
  return changeAccount(db, by, id, 'account.verify', (account) => {
    if (account.verifiedAt !== null) {
      throw new AdminRefusal(`${id} is verified since ${account.verifiedAt.toISOString()}.`);
    }
    return { verifiedAt: new Date() };
  });
}

/** Its keys get 403 from the next request on; payouts on their way go on. @throws AdminRefusal */
export function suspendAccount(db: Db, by: ChangedBy, id: string): Promise<ShownAccount> {
  return changeAccount(db, by, id, 'account.suspend', ({ status }) => {
    if (status === 'suspended') throw new AdminRefusal(`${id} is suspended already.`);
    return { status: 'suspended' };
  });
}

/** @throws AdminRefusal when it is not suspended */
export function reinstateAccount(db: Db, by: ChangedBy, id: string): Promise<ShownAccount> {
  return changeAccount(db, by, id, 'account.reinstate', ({ status }) => {
    if (status === 'active') throw new AdminRefusal(`${id} is not suspended.`);
    return { status: 'active' };
  });
}

/** @throws AdminRefusal when there is no such account */
export async function requireAccount(db: Db | Tx, id: string): Promise<Account> {
  return existing(id, await findAccount(db, id));
}

/** The account, which nobody else changes until the transaction ends. @throws AdminRefusal */
export async function requireLockedAccount(tx: Tx, id: string): Promise<Account> {
  return existing(id, await lockAccount(tx, id));
}

function existing(id: string, account: Account | null): Account {
  if (account !== null) return account;
  throw new AdminRefusal(
    `The account ${id} does not exist: \`accounts list\` shows those that do.`,
  );
}

async function changeAccount(
  db: Db,
  by: ChangedBy,
  id: string,
  action: string,
  decide: (account: Account) => Partial<Account>,
): Promise<ShownAccount> {
  return makeChange(db, by, async (tx) => {
    const account = await requireLockedAccount(tx, id);
    const changed = { ...account, ...decide(account) };
    await saveAccount(tx, changed);
    const after = presentAccount(changed);
    return {
      result: after,
      audit: {
        action,
        object: 'account',
        objectId: id,
        accountId: id,
        before: presentAccount(account),
        after,
      },
    };
  });
}
