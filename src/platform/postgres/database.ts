/**
 * The way to PostgreSQL. Nobody waits for a second connection while holding one, so the pool can never wait
 * for itself. A network that goes silent is noticed by a statement without an answer: its connection is given
 * up, and what was idle since before then is not used again.
 * numeric and bigint arrive as text (pg's default), timestamps as Date.
 */
import { Pool, type PoolClient } from 'pg';
import {
  Connection,
  connectionConfig,
  type DatabaseOptions,
  isPreparationFailure,
} from './connection';
import { type Composed, type Queries, rowsOf, toStatement, type Value } from './queries';
import { Transaction, type TransactionOptions } from './transaction';

const ACQUIRE_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;

type Pooled = Connection & Pick<PoolClient, 'release'>;

/** A pool of connections; see decisions/database#sql-libraries. */
export class Database implements Queries {
  readonly #pool: Pool;
  readonly #size: number;
  readonly #idle = new Set<Connection>();
  #isPreparing = true;
  #closed: Promise<void> | null = null;

  constructor(options: DatabaseOptions) {
    this.#size = options.size;
    this.#pool = new Pool({
      ...connectionConfig(options),
      Client: Connection as unknown as new () => Connection,
      max: options.size,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
      verify: (client, done) => {
        const created = client as unknown as Connection;
        created.detectPooler().then(() => {
          done();
        }, done);
      },
    });
    // An idle connection was lost; it leaves the pool.
    this.#pool.on('error', () => undefined);
    this.#pool.on('release', (_, client) => this.#idle.add(client as unknown as Connection));
    for (const event of ['acquire', 'remove'] as const) {
      this.#pool.on(event, (client) => this.#idle.delete(client as unknown as Connection));
    }
  }

  async query<T>(sql: string | Composed, values: readonly Value[] = []): Promise<T[]> {
    const statement = toStatement(sql, values);
    return this.#use(async (connection) => rowsOf<T>(await connection.run(statement)));
  }

  async prepared<T>(sql: string, values: readonly Value[]): Promise<T[]> {
    const run = (isPrepared: boolean): Promise<T[]> => {
      const statement = { ...toStatement(sql, values), isPrepared };
      return this.#use(async (connection) => rowsOf<T>(await connection.run(statement)));
    };
    return this.#preparing(run);
  }

  /**
   * One transaction, READ COMMITTED by default: the guarded UPDATEs and unique keys decide races, not the
   * isolation level. Nothing inside may wait for a network other than the database's.
   * @param work writes nothing but the database: it may run twice, the first time without effect
   */
  async transaction<T>(
    work: (tx: Transaction) => Promise<T> | T,
    options: TransactionOptions = {},
  ): Promise<T> {
    return this.#preparing((canPrepare) =>
      this.#use(async (connection) => {
        const tx = new Transaction(connection, canPrepare, options);
        return tx.run(work);
      }),
    );
  }

  /** The same, ended by `commit` or `rollback` of the transaction. */
  async begin(): Promise<Transaction> {
    const connection = await this.#acquire();
    return new Transaction(connection, this.#isPreparing, {
      onEnd: () => {
        this.#release(connection);
      },
    });
  }

  /** Sends each statement after `first`, in a transaction of the two. None is prepared. */
  after(first: string, firstValues: readonly Value[]): Queries {
    const before = toStatement(first, firstValues);
    const query = <T>(sql: string | Composed, values: readonly Value[] = []): Promise<T[]> => {
      const statement = toStatement(sql, values);
      return this.#use(async (connection) => {
        const results = await connection.runTogether([before, statement]);
        return rowsOf<T>(results[1]);
      });
    };
    return { query, prepared: query };
  }

  /** How full the pool is, without asking the database. */
  figures(): PoolFigures {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return {
      max: this.#size,
      inUse: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
    };
  }

  destroy(): Promise<void> {
    return (this.#closed ??= this.#pool.end());
  }

  async #preparing<T>(run: (isPreparing: boolean) => Promise<T>): Promise<T> {
    const isPreparing = this.#isPreparing;
    try {
      return await run(isPreparing);
    } catch (error) {
      if (!isPreparing || !isPreparationFailure(error)) throw error;
      this.#isPreparing = false;
      return run(false);
    }
  }

  async #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await work(connection);
    } finally {
      this.#release(connection);
    }
  }

  async #acquire(): Promise<Pooled> {
    return (await this.#pool.connect()) as unknown as Pooled;
  }

  #release(connection: Pooled): void {
    const { isCut, silentSince } = connection;
    if (silentSince !== null) {
      for (const idle of this.#idle) if (idle.answeredAt < silentSince) idle.cut();
    }
    connection.release(isCut);
  }
}

/** What a pool does now, for the metrics. */
export interface PoolFigures {
  max: number;
  inUse: number;
  idle: number;
  /** Requests and activities that wait for a connection. */
  waiting: number;
}
