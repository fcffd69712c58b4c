/** The client behind `knex({ client: 'pg' })`, which knex can be given as a class; knex has no types for it. */
declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';

  class PostgresClient extends Knex.Client {
    /** True for the client of one transaction, which has one connection. */
    transacting?: boolean;
    /** Executes one statement and stores the result in `statement.response`. */
    _query(connection: unknown, statement: object): Promise<object>;
  }

  export default PostgresClient;
}
