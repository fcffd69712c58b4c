/** Merchant accounts, as operators read and change them. */
import type { AccountStatus } from '../../domain/account';
import type { Db, Reader, Tx } from '../transaction';
import { type ListPage, newestFirst, type Page } from '../lists';
import { changeRow, findRow, insertRow, rowsOf } from '../models';

/** An account as stored. */
export interface Account {
  id: string;
  name: string;
  status: AccountStatus;
  verifiedAt: Date | null;
  /** Whether every live payout waits for an operator (decisions/controls#payout-review). */
  reviewAll: boolean;
  /** Whether test payouts wait too. */
  rehearseReview: boolean;
  createdAt: Date;
}

const Accounts = rowsOf<Account>('accounts', {
  read: 'id, name, status, verified_at, review_all, rehearse_review, created_at',
  writes: 'id, name, status, verified_at, review_all, rehearse_review',
});

export function insertAccount(tx: Tx, account: Pick<Account, 'id' | 'name'>): Promise<Account> {
  return insertRow(tx, Accounts, account);
}

export function findAccount(db: Db | Tx, id: string): Promise<Account | null> {
  return findRow(db, Accounts, { id });
}

/**
 * The lock is not FOR UPDATE, which would conflict with the foreign key checks of running payouts.
 */
export function lockAccount(tx: Tx, id: string): Promise<Account | null> {
  return findRow(tx, Accounts, { id }, 'FOR NO KEY UPDATE');
}

export async function saveAccount(tx: Tx, account: Account): Promise<void> {
  const { id, status, verifiedAt, reviewAll, rehearseReview } = account;
  await changeRow(tx, Accounts, id, { status, verifiedAt, reviewAll, rehearseReview });
}

export async function listAccounts(db: Db, limit: number): Promise<Account[]> {
  return db.query<Account>(
    `SELECT ${Accounts.read} FROM accounts ORDER BY created_at DESC, id DESC LIMIT ?`,
    [limit],
  );
}

export interface AccountFilters {
  /** The beginning of a name, or an id. */
  search?: string | undefined;
  status?: Account['status'] | undefined;
}

/** A page of the console, newest first. */
export function listAccountsPage(
  db: Db,
  { filters: { search, status }, ...page }: Page & { filters: AccountFilters },
): Promise<ListPage<Account>> {
  const start = search?.toLowerCase().replace(/[\\%_]/g, '\\$&');
  return newestFirst(db, Accounts, page, [
    ['(lower(name) LIKE ? OR id = ?)', start && `${start}%`, search],
    ['status = ?', status],
  ]);
}

/** The name by which development finds the account, whose id is different in each database. */
export const DEMO_MERCHANT_NAME = 'Demo merchant';

/** The demo merchant's account id; null if it does not exist, as in production. */
export async function findDemoMerchant(db: Db | Tx): Promise<string | null> {
  const [account] = await db.query<{ id: string }>(
    'SELECT id FROM accounts WHERE name = ? ORDER BY created_at, id LIMIT 1',
    [DEMO_MERCHANT_NAME],
  );
  return account?.id ?? null;
}

export interface Opening {
  now: Date;
  /** Null if there is no account. */
  merchantName: string | null;
  /** The hash of the account's logo. */
  logo: string | null;
}

/** PostgreSQL's time, and what a customer sees of the account on the page of a payment. */
export async function readOpening(db: Reader, accountId: string): Promise<Opening> {
  const [found] = await db.query<Opening>(
    `SELECT clock_timestamp() AS now, (SELECT name FROM accounts WHERE id = ?) AS merchant_name,
       (SELECT sha256 FROM account_logos WHERE account_id = ?) AS logo`,
    [accountId, accountId],
  );
  if (found === undefined) throw new Error('the query returned no row');
  return found;
}
