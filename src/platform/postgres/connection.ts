/** A connection to PostgreSQL: single statements, and batches of statements in one round trip. */
import { createHash } from 'node:crypto';
import {
  Client,
  type ClientConfig,
  type Connection as Protocol,
  DatabaseError,
  Query,
  type QueryResult,
  type Submittable,
} from 'pg';
import { isReadTimeout } from '../lib/unavailable';
import type { Statement } from './queries';

const CONNECT_TIMEOUT_MS = 5_000;
/** The server's timeout comes first, if the connection is alive. */
export const ANSWER_GRACE_MS = 3_000;
/** For a statement that runs for long without a timeout, such as the ledger check's. */
const KEEPALIVE_MS = 30_000;

/** How a program connects to PostgreSQL. */
export interface DatabaseOptions {
  url: string;
  /** Connections; every process has its own. */
  size: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** 0: none. */
  statementTimeoutMs: number;
  /** A statement without an answer is given up this long after its time-out. */
  answerGraceMs?: number;
  /** None by default: a request waits until its statement times out. */
  lockTimeoutMs?: number;
  /** The names in the program of the columns that a row has. By default they are the same. */
  fieldOf?: FieldOf;
}

type FieldOf = (column: string) => string;

export function connectionConfig({
  url,
  applicationName,
  statementTimeoutMs,
  answerGraceMs = ANSWER_GRACE_MS,
  lockTimeoutMs = 0,
  fieldOf = (column) => column,
}: DatabaseOptions): ConnectionConfig {
  return {
    fieldOf,
    connectionString: url,
    application_name: applicationName,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: 15_000,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + answerGraceMs }),
  };
}

export interface ConnectionConfig extends ClientConfig {
  fieldOf: FieldOf;
}

interface RowDescription {
  fields: { name: string }[];
}

/** The driver's query, whose rows have the program's names at once: a copy of each costs more than reading it. */
class NamedQuery extends Query {
  readonly #fieldOf: FieldOf;

  constructor(
    fieldOf: FieldOf,
    { text, name }: { text: string; name?: string },
    ...args: [values: unknown[], done: ConstructorParameters<typeof Query>[2]]
  ) {
    // The driver would clone an object with text and name.
    super(text, ...args);
    Object.assign(this, { name });
    this.#fieldOf = fieldOf;
  }

  handleRowDescription(message: RowDescription): void {
    for (const field of message.fields) field.name = this.#fieldOf(field.name);
    (Query.prototype as unknown as NamedQuery).handleRowDescription.call(this, message);
  }
}

/** A connection that sends several statements in one write. */
export class Connection extends Client {
  /** When PostgreSQL last answered, by performance.now(). */
  answeredAt = performance.now();
  /** Nothing can be sent on it any more. */
  isCut = false;
  /** When a statement was sent whose answer did not come in time. */
  silentSince: number | null = null;
  readonly #fieldOf: FieldOf;
  #isBehindPooler = false;

  constructor(config: ConnectionConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    this.#fieldOf = config.fieldOf;
    // Its statements fail. Without a listener, the process would end.
    this.on('error', () => undefined);
  }

  /**
   * Behind a pooler, the next statement can be executed by another server process, which may not know a
   * prepared statement. A pooler tells its clients other process ids than the server's.
   */
  async detectPooler(): Promise<void> {
    const { rows } = await this.run({ text: 'SELECT pg_backend_pid() AS pid', values: [] });
    const { processID } = this as unknown as { processID: number | null };
    this.#isBehindPooler = (rows[0] as { pid: number }).pid !== processID;
  }

  /** @param timeoutMs how long it may take, if that differs from the connection's */
  async run(statement: Statement, timeoutMs?: number): Promise<QueryResult> {
    return this.#answerTo((done) => {
      return new NamedQuery(this.#fieldOf, this.#named(statement), [...statement.values], done);
    }, timeoutMs);
  }

  /**
   * Sends the statements with one write. After an error, PostgreSQL skips the rest of them. Without BEGIN
   * they are a transaction of their own.
   */
  async runTogether(statements: readonly Statement[], timeoutMs?: number): Promise<QueryResult[]> {
    const named = statements.map((statement) => ({ ...statement, ...this.#named(statement) }));
    return this.#answerTo((done) => new Batch(this.#fieldOf, named, done), timeoutMs);
  }

  /** Closes the socket without a message to the server, which would not arrive. */
  cut(): void {
    this.isCut = true;
    this.connection.stream.destroy(new Error('Connection terminated'));
  }

  #named({ text, isPrepared = false }: Statement): { text: string; name?: string } {
    return isPrepared && !this.#isBehindPooler ? { text, name: statementName(text) } : { text };
  }

  #answerTo<T>(create: (done: Done<T>) => Submittable, timeoutMs?: number): Promise<T> {
    const sentAt = performance.now();
    return new Promise((resolve, reject) => {
      const query = create((error, result) => {
        if (error instanceof Error) {
          if (isReadTimeout(error)) {
            this.silentSince = sentAt;
            this.cut();
          }
          reject(error);
          return;
        }
        this.answeredAt = performance.now();
        resolve(result as T);
      });
      // The driver reads it as it reads that of a plain statement.
      this.query(Object.assign(query, timeoutMs !== undefined && { query_timeout: timeoutMs }));
    });
  }
}

type Done<T> = (error: Error | null | undefined, result?: T) => void;

const names = new Map<string, string>();

/** The name follows from the text, because connections behind a pooler share prepared statements. */
function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `gateway_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}

/**
 * A pooler in front of PostgreSQL does not support prepared statements, or a migration changed the columns.
 * Nothing was executed. From then on statements are not prepared; a migration comes with a restart.
 */
const NOT_PREPARED = ['26000', '42P05', '0A000'];

export function isPreparationFailure(error: unknown): boolean {
  return error instanceof DatabaseError && NOT_PREPARED.includes(error.code ?? '');
}

/** What `pg` calls on the connection of a batch. */
interface BatchProtocol extends Protocol {
  submittedNamedStatements: Record<string, string | undefined>;
}

/** The parts of the driver's query that a batch needs. */
interface DriverQuery {
  name?: string;
  text: string;
  prepare(protocol: Protocol): void;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, protocol: Protocol): void;
  handleReadyForQuery(protocol: Protocol): void;
}

/** A query that leaves the end of the batch to the batch. */
class BatchedQuery extends NamedQuery {
  _getRows(protocol: Protocol): void {
    protocol.execute({ portal: '', rows: '' }, false);
  }
}

/**
 * Statements in one write, executed one after the other up to the first error. The driver's pipeline mode
 * ends each statement by itself: if PostgreSQL cancelled a BEGIN, the statements after it would be
 * committed one by one.
 */
class Batch implements Submittable {
  readonly #queries: DriverQuery[];
  readonly #results: QueryResult[] = [];
  /** Why a value could not be sent, or a row could not be read. */
  #unread: Error | null = null;
  #current = 0;
  /** The driver calls it too, if the connection is lost. */
  callback: Done<QueryResult[]>;

  constructor(
    fieldOf: FieldOf,
    statements: readonly { text: string; name?: string; values: readonly unknown[] }[],
    done: Done<QueryResult[]>,
  ) {
    this.callback = done;
    this.#queries = statements.map(({ values, ...statement }, index) => {
      const query: unknown = new BatchedQuery(fieldOf, statement, [...values], (error, result) => {
        if (error instanceof Error) this.#unread ??= error;
        else this.#results[index] = result;
      });
      return query as DriverQuery;
    });
  }

  /** For the driver, which remembers what the server has parsed. */
  get name(): string | undefined {
    return this.#queries[this.#current]?.name;
  }

  get text(): string | undefined {
    return this.#queries[this.#current]?.text;
  }

  submit(protocol: Protocol): void {
    protocol.stream.cork();
    try {
      for (const query of this.#queries) {
        query.prepare(protocol);
        if (this.#unread !== null) throw this.#unread;
      }
      protocol.sync();
    } catch (error) {
      // What is written already must not be executed.
      protocol.stream.destroy(error as Error);
    } finally {
      protocol.stream.uncork();
    }
  }

  handleRowDescription(message: object): void {
    this.#queries[this.#current]?.handleRowDescription(message);
  }

  handleDataRow(message: object): void {
    this.#queries[this.#current]?.handleDataRow(message);
  }

  handleCommandComplete(message: object, protocol: Protocol): void {
    this.#queries[this.#current]?.handleCommandComplete(message, protocol);
    this.#current += 1;
  }

  handleError(error: Error, protocol: BatchProtocol): void {
    for (const { name } of this.#queries) {
      // Those after the error were skipped, so they are not parsed.
      if (name !== undefined) protocol.submittedNamedStatements[name] = undefined;
    }
    this.callback(error);
  }

  handleReadyForQuery(protocol: Protocol): void {
    for (const query of this.#queries) query.handleReadyForQuery(protocol);
    this.callback(this.#unread, this.#results);
  }
}
