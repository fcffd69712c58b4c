/**
 * The database as one account sees it, for what a merchant's pages read. PostgreSQL leaves out the rows of other
 * accounts (migration 0018), so that a statement that forgets its account finds nothing of theirs.
 */
import type { Knex } from 'knex';
import { executeAfter } from './pipelined-client';
import type { Binding } from './prepared';

/**
 * They end with the transaction of the statement. PostgreSQL takes the conditions of a role for more expensive
 * than they are, and would compile short statements.
 */
const BECOME = `SELECT set_config('role', 'gateway_merchant', true),
  set_config('app.account_id', $1, true), set_config('jit', 'off', true)`;

export class AccountDb {
  readonly #pool: Knex;
  readonly #accountId: string;

  /** @param pool of the pages' login, which is a member of the role */
  constructor(pool: Knex, accountId: string) {
    this.#pool = pool;
    this.#accountId = accountId;
  }

  /** @param sql with `?` for each binding */
  async run(sql: string, bindings: readonly Binding[]): Promise<object[]> {
    return executeAfter(this.#pool, { text: BECOME, values: [this.#accountId] }, sql, bindings);
  }
}
