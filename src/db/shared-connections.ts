/**
 * Short statements of many requests on few connections. They are prepared, and pipelined by the driver: a
 * statement does not wait for the answers to those before it, and statements that are sent in the same turn of
 * the event loop share one write. Under load, system calls cost more than the statements.
 *
 * A statement that waits or runs long delays those behind it, so this is for single statements that find
 * rows by a key. A wait for a lock ends soon, and the statement is then repeated on the pool.
 */
import { DatabaseError } from 'pg';
import {
  Connection,
  connectionConfig,
  isPreparationFailure,
} from '../platform/postgres/connection';
import type { Database } from '../platform/postgres/database';
import {
  type Composed,
  type Queries,
  rowsOf,
  type Statement,
  toStatement,
  type Value,
} from '../platform/postgres/queries';
import { type GatewayOptions, gatewayOptions } from './connect';

const LOCK_TIMEOUT_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';
/** A low number, so that a slow statement delays few others. */
const RUNNING_TOGETHER_MAX = 16;

export class SharedConnections implements Queries {
  readonly #pool: Database;
  readonly #lines: Line[];
  #isPreparing = true;

  /** @param pool repeats statements that would wait */
  constructor(options: GatewayOptions, pool: Database) {
    this.#pool = pool;
    this.#lines = Array.from({ length: options.size }, () => new Line(options));
  }

  query<T>(sql: string | Composed, values: readonly Value[] = []): Promise<T[]> {
    return this.#run(toStatement(sql, values));
  }

  prepared<T>(sql: string, values: readonly Value[]): Promise<T[]> {
    return this.#run(toStatement(sql, values));
  }

  async destroy(): Promise<void> {
    await Promise.allSettled(this.#lines.map((line) => line.end()));
  }

  async #run<T>({ text, values }: Statement): Promise<T[]> {
    const line = this.#chooseLine();
    const isPrepared = this.#isPreparing;
    try {
      return await line.run({ text, values, isPrepared });
    } catch (error) {
      if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) {
        return this.#pool.prepared(text, values as readonly Value[]);
      }
      if (!isPrepared || !isPreparationFailure(error)) throw error;
      this.#isPreparing = false;
      return line.run({ text, values });
    }
  }

  /** One whose next write it can share, otherwise the one with the fewest statements. */
  #chooseLine(): Line {
    return (
      this.#lines.find(({ isCorked, running }) => isCorked && running < RUNNING_TOGETHER_MAX) ??
      this.#lines.reduce((best, one) => (one.running < best.running ? one : best))
    );
  }
}

/** One connection, opened for its first statement and again after it was lost. */
class Line {
  /** Statements without an answer. */
  running = 0;
  /** Statements of this turn of the event loop wait for their write. */
  isCorked = false;
  readonly #options: GatewayOptions;
  #open: Promise<Connection> | null = null;

  constructor(options: GatewayOptions) {
    this.#options = { ...options, lockTimeoutMs: LOCK_TIMEOUT_MS };
  }

  async run<T>(statement: Statement): Promise<T[]> {
    this.running += 1;
    try {
      const connection = await (this.#open ??= this.#connect());
      this.#cork(connection);
      return rowsOf<T>(await connection.run(statement));
    } finally {
      this.running -= 1;
    }
  }

  async end(): Promise<void> {
    const connection = await this.#open;
    await connection?.end();
  }

  /** Until the sockets that are ready have been read: their requests share the write. */
  #cork({ connection: { stream } }: Connection): void {
    if (this.isCorked) return;
    this.isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }

  async #connect(): Promise<Connection> {
    const connection = new Connection({
      ...connectionConfig(gatewayOptions(this.#options)),
      pipeline: true,
    });
    // Its statements fail; the next one opens another connection.
    const forget = (): void => {
      this.#open = null;
    };
    connection.once('error', forget);
    connection.once('end', forget);
    try {
      await connection.connect();
    } catch (error) {
      forget();
      throw error;
    }
    return connection;
  }
}
