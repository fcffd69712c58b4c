/** One transaction, on a connection of its own until it ends. */
import type { QueryResult } from 'pg';
import type { Connection } from './connection';
import {
  type Composed,
  type Queries,
  rowsOf,
  type Statement,
  toStatement,
  type Value,
} from './queries';

export interface TransactionOptions {
  /** One snapshot for all of it. */
  isRepeatable?: boolean;
  isReadOnly?: boolean;
  onEnd?: () => void;
}

/** The caller need not wait for it: the transaction fails if it fails. */
export type SentWithNext<T> = Promise<T>;

interface Deferred extends Statement {
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/**
 * BEGIN is sent with the first statement, and a deferred statement with the next one or with COMMIT. What is
 * sent together is one batch: after an error, PostgreSQL skips the rest of it, so nothing is executed outside
 * of the transaction, and a COMMIT in it commits nothing.
 */
export class Transaction implements Queries {
  readonly #connection: Connection;
  readonly #canPrepare: boolean;
  readonly #begin: Statement;
  readonly #onEnd: () => void;
  #isBegun = false;
  #deferred: Deferred[] = [];
  #timeoutMs: number | undefined;

  constructor(
    connection: Connection,
    canPrepare: boolean,
    { isRepeatable = false, isReadOnly = false, onEnd = () => undefined }: TransactionOptions,
  ) {
    this.#connection = connection;
    this.#canPrepare = canPrepare;
    const isolation = isRepeatable ? ' ISOLATION LEVEL REPEATABLE READ' : '';
    this.#begin = { text: `BEGIN${isolation}${isReadOnly ? ' READ ONLY' : ''}`, values: [] };
    this.#onEnd = onEnd;
  }

  async query<T>(sql: string | Composed, values: readonly Value[] = []): Promise<T[]> {
    const statement = toStatement(sql, values);
    if (statement.values.length > 0) return rowsOf<T>(await this.#send(statement));
    // It may be a script of many statements, which cannot be part of a batch.
    if (!this.#isBegun || this.#deferred.length > 0) await this.#send();
    return rowsOf<T>(await this.#connection.run(statement, this.#timeoutMs));
  }

  async prepared<T>(sql: string, values: readonly Value[]): Promise<T[]> {
    return rowsOf<T>(await this.#send(this.#prepare(sql, values)));
  }

  /**
   * Sends a statement with the transaction's next one, or with COMMIT, which then fails as well. It is never
   * executed if the transaction is rolled back before.
   * @returns what `read` makes of its rows; wait for it only after the next statement, or after the commit
   */
  sendWithNext<T, R = T[]>(
    sql: string,
    values: readonly Value[],
    read: (rows: T[]) => R = (rows) => rows as R,
  ): SentWithNext<R> {
    const result = new Promise<unknown[]>((resolve, reject) => {
      this.#deferred.push({ ...this.#prepare(sql, values), resolve, reject });
    }).then((rows) => read(rows as T[]));
    // The statement that it is sent with fails with the same error.
    result.catch(() => undefined);
    return result;
  }

  /** A part of the transaction that can fail by itself. */
  async savepoint<T>(work: (tx: Transaction) => Promise<T> | T): Promise<T> {
    await this.query('SAVEPOINT part');
    try {
      const result = await work(this);
      await this.query('RELEASE SAVEPOINT part');
      return result;
    } catch (error) {
      // No reason to send what is then undone.
      this.#forgetDeferred();
      await this.query('ROLLBACK TO SAVEPOINT part');
      throw error;
    }
  }

  /** Lets its statements run longer than others before the connection counts as dead. */
  allowTime(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
  }

  async run<T>(work: (tx: Transaction) => Promise<T> | T): Promise<T> {
    let result: T;
    try {
      result = await work(this);
    } catch (error) {
      await this.rollback();
      throw error;
    }
    await this.commit();
    return result;
  }

  async commit(): Promise<void> {
    try {
      if (!this.#isBegun && this.#deferred.length === 0) return;
      const result = await this.#send({ text: 'COMMIT', values: [] });
      // PostgreSQL answers so if an earlier error was ignored.
      if (result?.command === 'ROLLBACK') throw new Error('the transaction was rolled back');
    } catch (error) {
      // The COMMIT was skipped: the connection must not go back to the pool inside of the transaction.
      await this.#undo();
      throw error;
    } finally {
      this.#onEnd();
    }
  }

  async rollback(): Promise<void> {
    this.#forgetDeferred();
    if (this.#isBegun) await this.#undo();
    this.#onEnd();
  }

  async #undo(): Promise<void> {
    if (this.#connection.isCut) return;
    await this.#connection.run({ text: 'ROLLBACK', values: [] }).catch(() => {
      this.#connection.cut();
    });
  }

  #forgetDeferred(): void {
    for (const { reject } of this.#deferred.splice(0)) reject(new Error('rolled back'));
  }

  #prepare(sql: string, values: readonly Value[]): Statement {
    return { ...toStatement(sql, values), isPrepared: this.#canPrepare };
  }

  /**
   * Sends what waits, and the statement.
   * @returns its result
   */
  async #send(statement?: Statement): Promise<QueryResult | undefined> {
    const before = this.#isBegun ? [] : [this.#begin];
    const deferred = this.#deferred;
    // Also if it fails: ROLLBACK is harmless without a transaction.
    this.#isBegun = true;
    this.#deferred = [];
    const all = [...before, ...deferred, ...(statement === undefined ? [] : [statement])];
    try {
      const results = await this.#connection.runTogether(all, this.#timeoutMs);
      for (const [index, { resolve }] of deferred.entries()) {
        resolve(rowsOf(results[before.length + index]));
      }
      return statement === undefined ? undefined : results.at(-1);
    } catch (error) {
      for (const { reject } of deferred) reject(error);
      throw error;
    }
  }
}
