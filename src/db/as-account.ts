import type { Db, Reader } from './transaction';

/**
 * The settings end with the transaction of the statement. PostgreSQL takes the conditions of a role for more
 * expensive than they are, and would compile short statements.
 */
const BECOME_MERCHANT = `SELECT set_config('role', 'gateway_merchant', true),
  set_config('app.account_id', $1, true), set_config('jit', 'off', true)`;

/**
 * The database as one account sees it, for what a merchant's pages read. PostgreSQL leaves out the rows of
 * other accounts, so that a statement that forgets its account finds nothing of theirs. For the pool of the
 * pages' login, which is a member of the role. PostgreSQL would plan a prepared statement again whenever
 * another role executes it.
 */
export function asAccount(db: Db, accountId: string): Reader {
  return db.after(BECOME_MERCHANT, [accountId]);
}
