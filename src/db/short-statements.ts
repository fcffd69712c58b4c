/**
 * Short statements of many requests on few connections. They are prepared, and pipelined: a statement
 * does not wait for the answers to those before it, and statements that are sent in the same turn of the
 * event loop share one write. Under load, system calls cost more than the statements.
 *
 * A statement that waits or runs long delays those behind it, so this is for single statements that find
 * rows by a key. A wait for a lock ends soon, and the statement is then repeated on the pool.
 */
import { Socket } from 'node:net';
import type { Knex } from 'knex';
import { Client, DatabaseError } from 'pg';
import { isReadTimeout } from '../lib/unavailable';
import { named, NamedQuery } from './column-names';
import { CONNECT_TIMEOUT_MS, type PoolOptions, STATEMENT_TIMEOUT_MS } from './connect';
import { execute } from './pipelined-client';
import { type Binding, isPreparationFailure, statementName } from './prepared';
import { ANSWER_GRACE_MS } from './silence';

const LOCK_TIMEOUT_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';
/** So that a statement that takes long delays few. */
const RUNNING_TOGETHER_MAX = 16;

export class ShortStatements {
  readonly #pool: Knex;
  readonly #lines: Line[];
  #areNamed = true;

  /** @param pool repeats statements that would wait */
  constructor(options: PoolOptions, pool: Knex) {
    this.#pool = pool;
    this.#lines = Array.from({ length: options.size }, () => new Line(options));
  }

  /**
   * @param sql with `?` for each binding, and no other question mark
   * @returns rows with the program's names
   */
  async run(sql: string, bindings: readonly Binding[]): Promise<object[]> {
    const line = this.#chooseLine();
    const { name, text } = prepare(sql);
    const isNamed = this.#areNamed;
    try {
      return await line.query(isNamed ? { name, text } : { text }, bindings);
    } catch (error) {
      if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) {
        return named(await execute(this.#pool, sql, bindings, true));
      }
      if (!isNamed || !isPreparationFailure(error)) throw error;
      this.#areNamed = false;
      return line.query({ text }, bindings);
    }
  }

  /** One whose next write it can share, otherwise the one with the fewest statements. */
  #chooseLine(): Line {
    return (
      this.#lines.find(({ isCorked, running }) => isCorked && running < RUNNING_TOGETHER_MAX) ??
      this.#lines.reduce((best, one) => (one.running < best.running ? one : best))
    );
  }

  async destroy(): Promise<void> {
    await Promise.allSettled(this.#lines.map((line) => line.end()));
  }
}

/** One connection, opened for its first statement and again after it was lost. */
class Line {
  /** Statements without an answer. */
  running = 0;
  readonly #options: PoolOptions;
  #open: Promise<Client> | null = null;
  /** Statements of this turn of the event loop wait for their write. */
  isCorked = false;
  #socket = new Socket();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async query(
    statement: { name?: string; text: string },
    bindings: readonly Binding[],
  ): Promise<object[]> {
    this.running += 1;
    const open = (this.#open ??= this.#connect());
    try {
      const client = await open;
      this.#cork();
      return await rowsOf(client, statement, bindings);
    } catch (error) {
      // The driver closes it, and says so later.
      if (isReadTimeout(error) && this.#open === open) this.#open = null;
      throw error;
    } finally {
      this.running -= 1;
    }
  }

  async end(): Promise<void> {
    const client = await this.#open;
    await client?.end();
  }

  /** Until the sockets that are ready have been read: their requests share the write. */
  #cork(): void {
    if (this.isCorked) return;
    const socket = this.#socket;
    this.isCorked = true;
    socket.cork();
    setImmediate(() => {
      this.isCorked = false;
      socket.uncork();
    });
  }

  async #connect(): Promise<Client> {
    const { url, applicationName } = this.#options;
    const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, answerGraceMs = ANSWER_GRACE_MS } =
      this.#options;
    const socket = new Socket();
    this.#socket = socket;
    const client = new Client({
      connectionString: url,
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      lock_timeout: LOCK_TIMEOUT_MS,
      query_timeout: statementTimeoutMs + answerGraceMs,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      pipeline: true,
      stream: () => socket,
    });
    const forget = () => {
      if (this.#socket === socket) this.#open = null;
    };
    // Its statements fail; the next one opens another connection.
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
    } catch (error) {
      forget();
      throw error;
    }
    return client;
  }
}

function rowsOf(
  client: Client,
  statement: { name?: string; text: string },
  bindings: readonly Binding[],
): Promise<object[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new NamedQuery(statement, [...bindings], (error, result) => {
        if (error instanceof Error) reject(error);
        else resolve(result.rows as object[]);
      }),
    );
  });
}

const positioned = new Map<string, { name: string; text: string }>();

function prepare(sql: string): { name: string; text: string } {
  const known = positioned.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const text = sql.replaceAll('?', () => `$${(count += 1)}`);
  const prepared = { name: statementName(text), text };
  positioned.set(sql, prepared);
  return prepared;
}
