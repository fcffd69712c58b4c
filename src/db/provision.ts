/**
 * Creates databases and login roles on the local PostgreSQL servers of `npm start` and of the tests. In
 * production the operator creates both (docs/operations.md).
 */
import { Client } from 'pg';

/** The group roles that the migrations create: what each program may do. */
export type GatewayRole = 'gateway_api' | 'gateway_worker' | 'gateway_admin' | 'gateway_dashboard';

/** The same server and options, with another database or another login. */
export function databaseUrl(
  base: string,
  change: { database?: string; user?: string; password?: string },
): string {
  const url = new URL(base);
  if (change.database !== undefined) url.pathname = `/${encodeURIComponent(change.database)}`;
  if (change.user !== undefined) url.username = encodeURIComponent(change.user);
  if (change.password !== undefined) url.password = encodeURIComponent(change.password);
  return url.toString();
}

/** Creates the database unless it exists, and returns its URL. */
export async function ensureDatabase(superuserUrl: string, name: string): Promise<string> {
  await withClient(superuserUrl, async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      await client.query(`create database ${client.escapeIdentifier(name)}`);
    }
  });
  return databaseUrl(superuserUrl, { database: name });
}

/**
 * Creates a login with this password as a member of the roles; the migrations must have run. Its
 * timeouts hold behind PgBouncer too, which drops those that a connection asks for.
 * Running it again sets the password again.
 */
export async function ensureLogin(
  ownerUrl: string,
  login: { user: string; password: string },
  roles: readonly GatewayRole[],
): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const user = client.escapeIdentifier(login.user);
    const found = await client.query('select 1 from pg_roles where rolname = $1', [login.user]);
    if (found.rowCount === 0) await client.query(`create role ${user}`);
    const password = client.escapeLiteral(login.password);
    await client.query(`alter role ${user} login password ${password}`);
    await client.query(`alter role ${user} set statement_timeout = '15s'`);
    await client.query(`alter role ${user} set idle_in_transaction_session_timeout = '15s'`);
    await client.query(`grant ${roles.join(', ')} to ${user}`);
  });
}

/** Runs the work on one connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
