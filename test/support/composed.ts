import knex from 'knex';

/** Composes a query for `Database.query`, such as an INSERT of the columns of an object. */
export const compose = knex({ client: 'pg' });
