/** Merchant accounts, as operators read and change them. */
import type { AccountStatus } from '../../domain/account';
import type { Db, Tx } from '../transaction';
import { exactTime, type ListPage, pageOf } from '../lists';

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

const COLUMNS = `id, name, status, verified_at, review_all,
  rehearse_review, created_at`;

export async function insertAccount(tx: Tx, { id, name }: Pick<Account, 'id' | 'name'>) {
  const [account] = await tx.query<Account>(
    `INSERT INTO accounts (id, name) VALUES (?, ?) RETURNING ${COLUMNS}`,
    [id, name],
  );
  if (account === undefined) throw new Error(`account ${id} was not inserted`);
  return account;
}

export async function findAccount(db: Db | Tx, id: string): Promise<Account | null> {
  const [account] = await db.query<Account>(`SELECT ${COLUMNS} FROM accounts WHERE id = ?`, [id]);
  return account ?? null;
}

/**
 * The lock is not FOR UPDATE, which would conflict with the foreign key checks of running payouts.
 */
export async function lockAccount(tx: Tx, id: string): Promise<Account | null> {
  const sql = `SELECT ${COLUMNS} FROM accounts WHERE id = ? FOR NO KEY UPDATE`;
  const [account] = await tx.query<Account>(sql, [id]);
  return account ?? null;
}

export async function saveAccount(tx: Tx, account: Account): Promise<void> {
  await tx.query(
    `UPDATE accounts SET status = ?, verified_at = ?, review_all = ?, rehearse_review = ?
      WHERE id = ?`,
    [account.status, account.verifiedAt, account.reviewAll, account.rehearseReview, account.id],
  );
}

export async function listAccounts(db: Db, limit: number): Promise<Account[]> {
  return db.query<Account>(
    `SELECT ${COLUMNS} FROM accounts ORDER BY created_at DESC, id DESC LIMIT ?`,
    [limit],
  );
}

export interface AccountFilters {
  /** The beginning of a name, or an id. */
  search?: string | undefined;
  status?: Account['status'] | undefined;
}

/** A page of the console, newest first. */
export async function listAccountsPage(
  db: Db,
  query: {
    limit: number;
    after: { createdAt: string; id: string } | null;
    filters: AccountFilters;
  },
): Promise<ListPage<Account>> {
  const { limit, after, filters } = query;
  const asked: [condition: string, ...values: string[]][] = [];
  const { search, status } = filters;
  if (search !== undefined) {
    const start = search.toLowerCase().replace(/[\\%_]/g, '\\$&');
    asked.push(['(lower(name) LIKE ? OR id = ?)', `${start}%`, search]);
  }
  if (status !== undefined) asked.push(['status = ?', status]);
  if (after !== null) asked.push(['(created_at, id) < (?, ?)', after.createdAt, after.id]);
  const where = ['true', ...asked.map(([condition]) => condition)].join(' AND ');
  const found = await db.query<Account & { position: string }>(
    `SELECT ${COLUMNS}, ${exactTime('created_at')} AS position FROM accounts WHERE ${where}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [...asked.flatMap(([, ...values]) => values), limit + 1],
  );
  return pageOf(found, limit);
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
