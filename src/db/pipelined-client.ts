/**
 * The client of knex with fewer round trips. A transaction's BEGIN is sent with its first statement, and a
 * deferred statement with the next one or with COMMIT. What is sent together is one batch: after an error,
 * PostgreSQL skips the rest of it, so nothing is executed outside of the transaction, and a COMMIT in it
 * commits nothing.
 */
import type { Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { type Connection, DatabaseError, Query, type QueryResult, type Submittable } from 'pg';
import { isPreparationFailure, statementName } from './prepared';
import { isDead, observed } from './silence';

/** A statement as knex hands it to its client. */
interface KnexStatement {
  sql: string;
  bindings?: unknown[];
  /** Sent before it, in the same batch. Outside of a transaction both are one by themselves. */
  before?: BatchStatement;
  options?: { isPrepared?: boolean; name?: string };
  response?: unknown;
}

/** A client of the driver. */
export interface DriverClient {
  query(batch: Submittable): unknown;
  /** Of the server process, as the server, or a pooler before it, said. */
  processID: number | null;
  connectionParameters?: { query_timeout: number | undefined };
}

interface Deferred {
  text: string;
  values: unknown[];
  resolve: (result: QueryResult) => void;
  reject: (error: Error) => void;
}

/** What the next statement of a transaction takes with it. */
interface Waiting {
  isBegun: boolean;
  deferred: Deferred[];
}

const waitingOf = new WeakMap<object, Waiting>();
/** The connection of a transaction's client. */
const connectionOf = new WeakMap<object, object>();
/** Connections on which statements must not be prepared. */
const unprepared = new WeakSet();
let isPreparing = true;

/** False from now on: see `isPreparationFailure`. */
export function stopPreparing(): void {
  isPreparing = false;
}

/**
 * Behind a pooler, the next statement can be executed by another server process, which may not know a
 * prepared statement. A pooler tells its clients other process ids than the server's.
 */
export async function detectPooler(connection: DriverClient): Promise<void> {
  const batch = new Batch([{ text: 'SELECT pg_backend_pid() AS pid', values: [] }]);
  const [result] = await batch.on(connection);
  const [row] = result?.rows as { pid: number }[];
  if (row?.pid !== connection.processID) unprepared.add(connection);
}

/**
 * Executes a statement without knex's query builder, which costs more than the statement.
 * @param sql with `?` for each binding
 */
export async function execute(
  db: Knex | Knex.Transaction,
  sql: string,
  bindings: readonly unknown[],
  isPrepared: boolean,
): Promise<object[]> {
  refuseUndefined(sql, bindings);
  const client = db.client as PipelinedClient;
  const statement: KnexStatement = { sql, bindings: [...bindings], options: { isPrepared } };
  const ofTransaction = connectionOf.get(client);
  if (ofTransaction !== undefined) return resultOf(client, ofTransaction, statement);
  return onConnection(client, statement);
}

/**
 * Executes a statement after another one, such as a setting that ends with their transaction. They are one
 * batch, which is a transaction without BEGIN and COMMIT: one round trip, and an error undoes both.
 */
export async function executeAfter(
  pool: Knex,
  before: BatchStatement,
  sql: string,
  bindings: readonly unknown[],
): Promise<object[]> {
  refuseUndefined(sql, bindings);
  const client = pool.client as PipelinedClient;
  if (client.transacting === true) throw new Error('executeAfter() is not for a transaction');
  return onConnection(client, { sql, bindings: [...bindings], before });
}

function refuseUndefined(sql: string, bindings: readonly unknown[]): void {
  const undefinedAt = bindings.indexOf(undefined);
  if (undefinedAt >= 0) throw new Error(`binding ${undefinedAt + 1} is undefined: ${sql}`);
}

async function onConnection(client: PipelinedClient, statement: KnexStatement): Promise<object[]> {
  const connection = (await client.acquireConnection()) as object;
  try {
    return await resultOf(client, connection, statement);
  } finally {
    client.releaseConnection(connection);
  }
}

async function resultOf(
  client: PipelinedClient,
  connection: object,
  statement: KnexStatement,
): Promise<object[]> {
  const answer = (await client.query(connection, statement)) as { response: QueryResult };
  return answer.response.rows as object[];
}

/**
 * Sends the statement with the transaction's next one, or with COMMIT. It is never executed if the transaction
 * is rolled back before.
 * @returns its rows, after the next statement or the commit; do not wait for them before
 */
export function defer(tx: Knex.Transaction, sql: string, bindings: unknown[]): Promise<object[]> {
  const client = tx.client as PipelinedClient;
  const waiting = waitingOf.get(connectionOf.get(client) ?? client);
  if (waiting === undefined) throw new Error('defer() requires an open transaction');
  const { sql: text, bindings: values } = client.positioned(sql, bindings);
  // As knex does it for each statement.
  client.emit('query', { sql: text, bindings: values });
  return new Promise<object[]>((resolve, reject) => {
    waiting.deferred.push({
      text,
      values,
      resolve: (result) => {
        resolve(result.rows as object[]);
      },
      reject,
    });
  });
}

/**
 * Lets the transaction's statements run longer than others before the connection counts as dead.
 * @returns what ends that
 */
export function allowTime(tx: Knex.Transaction, timeoutMs: number): () => void {
  const connection = connectionOf.get(tx.client as PipelinedClient);
  if (connection === undefined) throw new Error('allowTime() requires an open transaction');
  const { connectionParameters } = connection as Required<DriverClient>;
  const usual = connectionParameters.query_timeout;
  connectionParameters.query_timeout = timeoutMs;
  return () => {
    connectionParameters.query_timeout = usual;
  };
}

/** `?` of the frequent statements as `$1`. */
const positions = new Map<string, string>();
const POSITIONS_MAX = 2_000;

export class PipelinedClient extends PostgresClient {
  override positionBindings(sql: string): string {
    let positioned = positions.get(sql);
    if (positioned === undefined) {
      positioned = super.positionBindings(sql) as string;
      if (positions.size < POSITIONS_MAX) positions.set(sql, positioned);
    }
    return positioned;
  }

  positioned(sql: string, bindings: unknown[]): { sql: string; bindings: unknown[] } {
    return {
      sql: this.positionBindings(sql),
      bindings: this.prepBindings(bindings) as unknown[],
    };
  }

  override _query(connection: DriverClient, statement: KnexStatement): Promise<object> {
    const run = () => dispatch(this, connection, statement);
    // It is sent later, so it proves nothing.
    return statement.sql === 'BEGIN;' ? run() : observed(connection, run);
  }
}

async function dispatch(
  client: PipelinedClient,
  connection: DriverClient,
  statement: KnexStatement,
): Promise<object> {
  if (client.transacting === true) connectionOf.set(client, connection);
  if (statement.sql === 'BEGIN;') {
    waitingOf.set(connection, { isBegun: false, deferred: [] });
    return answered(statement, NOTHING);
  }
  const waiting = waitingOf.get(connection);
  if (waiting === undefined) return alone(client, connection, statement);
  // To a savepoint as well, which is no reason to send what is then undone.
  if (statement.sql.startsWith('ROLLBACK')) {
    for (const { reject } of waiting.deferred.splice(0)) reject(new Error('rolled back'));
  }
  switch (statement.sql) {
    case 'ROLLBACK':
      waitingOf.delete(connection);
      return waiting.isBegun && !isDead(connection)
        ? plainly(client, connection, statement)
        : answered(statement, NOTHING);
    case 'COMMIT;':
      waitingOf.delete(connection);
      return waiting.isBegun || waiting.deferred.length > 0
        ? answered(statement, await commit(client, connection, waiting))
        : answered(statement, NOTHING);
    default:
      if (statement.bindings?.length) {
        return answered(statement, await together(connection, statement, waiting));
      }
      // Without values it may be a script of many statements, which cannot be part of a batch.
      if (!waiting.isBegun || waiting.deferred.length > 0) {
        await sendWaiting(connection, waiting);
      }
      return plainly(client, connection, statement);
  }
}

/** As knex does it. A transaction's client is an object without constructor, so this is no method. */
function plainly(client: PipelinedClient, connection: DriverClient, statement: KnexStatement) {
  return PostgresClient.prototype._query.call(client, connection, statement);
}

/** Outside of a transaction. */
async function alone(
  client: PipelinedClient,
  connection: DriverClient,
  statement: KnexStatement,
): Promise<object> {
  const { before, sql, bindings = [] } = statement;
  if (before !== undefined) {
    const results = await new Batch([before, { text: sql, values: bindings }]).on(connection);
    return answered(statement, results.at(-1) ?? NOTHING);
  }
  const name = nameOf(connection, statement);
  if (name === undefined) return plainly(client, connection, statement);
  try {
    return await plainly(client, connection, { ...statement, options: { name } });
  } catch (error) {
    if (!isPreparationFailure(error)) throw error;
    stopPreparing();
    return plainly(client, connection, statement);
  }
}

/** With what waits for it. */
async function together(
  connection: DriverClient,
  { sql, bindings = [], options }: KnexStatement,
  waiting: Waiting,
): Promise<QueryResult> {
  const name = nameOf(connection, { sql, ...(options && { options }) });
  const own = await sendWaiting(connection, waiting, { text: sql, values: bindings, name });
  if (own === undefined) throw new Error('the statement has no result');
  return own;
}

/** @returns the result of `last` */
async function sendWaiting(
  connection: DriverClient,
  waiting: Waiting,
  last?: BatchStatement,
): Promise<QueryResult | undefined> {
  const { isBegun, deferred } = waiting;
  // Also if it fails: ROLLBACK is harmless without a transaction.
  waiting.isBegun = true;
  waiting.deferred = [];
  const before = isBegun ? [] : [{ text: 'BEGIN', values: [] }];
  const batch = new Batch([
    ...before,
    ...deferred.map(({ text, values }) => ({
      text,
      values,
      name: canPrepare(connection) ? statementName(text) : undefined,
    })),
    ...(last === undefined ? [] : [last]),
  ]);
  try {
    const results = await batch.on(connection);
    const own = last && results.pop();
    for (const { resolve } of deferred.reverse()) {
      const result = results.pop();
      if (result !== undefined) resolve(result);
    }
    return own;
  } catch (error) {
    for (const { reject } of deferred) reject(error as Error);
    throw error;
  }
}

async function commit(
  client: PipelinedClient,
  connection: DriverClient,
  waiting: Waiting,
): Promise<QueryResult> {
  try {
    const result = await together(connection, { sql: 'COMMIT' }, waiting);
    // PostgreSQL answers so if an earlier error was ignored.
    if (result.command === 'ROLLBACK') throw new Error('the transaction was rolled back');
    return result;
  } catch (error) {
    // The COMMIT was skipped: the connection must not go back to the pool inside of the transaction.
    if (error instanceof DatabaseError) await plainly(client, connection, { sql: 'ROLLBACK' });
    throw error;
  }
}

function answered(statement: KnexStatement, response: object): object {
  return Object.assign(statement, { response });
}

/** Of BEGIN, which is sent later, and of the end of a transaction without statements. */
const NOTHING = { command: '', rows: [], rowCount: 0 };

function canPrepare(connection: object): boolean {
  return isPreparing && !unprepared.has(connection);
}

function nameOf(connection: object, { sql, options }: KnexStatement): string | undefined {
  return options?.isPrepared === true && canPrepare(connection) ? statementName(sql) : undefined;
}

/** What `pg` calls on the connection of a batch. */
interface BatchConnection extends Connection {
  submittedNamedStatements: Record<string, string | undefined>;
}

/** The parts of the driver's query that a batch needs. */
interface DriverQuery {
  name?: string | undefined;
  text: string;
  _results: QueryResult;
  /** Why a row of the result could not be read. */
  _canceledDueToError: Error | false;
  prepare(connection: Connection): void;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: Connection): void;
}

/** A query that leaves the end of the batch to the batch. */
class BatchedQuery extends Query {
  _getRows(connection: Connection): void {
    connection.execute({ portal: '', rows: '' }, false);
  }
}

export interface BatchStatement {
  text: string;
  values: unknown[];
  /** Of a prepared statement. */
  name?: string | undefined;
}

/** Statements in one write, executed one after the other up to the first error. */
class Batch implements Submittable {
  readonly #queries: DriverQuery[];
  #current = 0;
  /** The driver calls it if the connection is lost. */
  callback: (error: Error | null, results?: QueryResult[]) => void = () => undefined;

  constructor(statements: BatchStatement[]) {
    this.#queries = statements.map((statement) => {
      const query: unknown = new BatchedQuery(statement);
      return query as DriverQuery;
    });
  }

  on(connection: DriverClient): Promise<QueryResult[]> {
    return new Promise((resolve, reject) => {
      this.callback = (error, results = []) => {
        if (error === null) resolve(results);
        else reject(error);
      };
      connection.query(this);
    });
  }

  /** For the driver, which remembers what the server has parsed. */
  get name(): string | undefined {
    return this.#queries[this.#current]?.name;
  }

  get text(): string | undefined {
    return this.#queries[this.#current]?.text;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    try {
      for (const query of this.#queries) query.prepare(connection);
      connection.sync();
    } catch (error) {
      // A value that cannot be sent: what is written already must not be executed.
      connection.stream.destroy(error as Error);
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: object): void {
    this.#queries[this.#current]?.handleRowDescription(message);
  }

  handleDataRow(message: object): void {
    this.#queries[this.#current]?.handleDataRow(message);
  }

  handleCommandComplete(message: object, connection: Connection): void {
    this.#queries[this.#current]?.handleCommandComplete(message, connection);
    this.#current += 1;
  }

  handleError(error: Error, connection: BatchConnection): void {
    for (const { name } of this.#queries) {
      // Those after the error were skipped, so they are not parsed.
      if (name !== undefined) connection.submittedNamedStatements[name] = undefined;
    }
    this.callback(error);
  }

  handleReadyForQuery(): void {
    const unread = this.#queries.find(({ _canceledDueToError: error }) => error !== false);
    if (unread !== undefined) this.callback(unread._canceledDueToError as Error);
    else
      this.callback(
        null,
        this.#queries.map(({ _results }) => _results),
      );
  }
}
