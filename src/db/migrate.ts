/**
 * Brings a database to the newest schema. Called by `npm run migrate`, by `npm start` and by the
 * tests; several at once wait for each other.
 */
import type { Knex } from 'knex';
import { connect } from './connect';
import { MIGRATIONS } from './migrations';
import { withClient } from './provision';

type Migration = (typeof MIGRATIONS)[number];

const source: Knex.MigrationSource<Migration> = {
  getMigrations: () => Promise.resolve([...MIGRATIONS]),
  getMigrationName: (migration) => migration.name,
  getMigration: (migration) =>
    Promise.resolve({
      up: async (trx) => {
        await trx.raw(migration.sql.replaceAll('?', '\\?'));
      },
      down: () => Promise.reject(new Error('migrations only go forward')),
    }),
};

/**
 * An advisory lock, because knex's own is a row: who comes second fails instead of waiting, and a
 * killed run leaves it taken. This one waits, and ends with its connection.
 */
const MIGRATION_LOCK = 7_204_118;

/**
 * @param ownerUrl connection of the role that owns the schema, not the application's
 * @returns the names of the migrations that this call applied
 */
export async function migrate(ownerUrl: string): Promise<string[]> {
  return withClient(ownerUrl, async (locker) => {
    await locker.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const db = connect({ url: ownerUrl, size: 2, applicationName: 'gateway-migrate' });
    try {
      await db.migrate.forceFreeMigrationsLock({ migrationSource: source });
      const [, applied] = (await db.migrate.latest({ migrationSource: source })) as [
        batch: number,
        names: string[],
      ];
      // The list is knex's own table, so no migration can grant it; /readyz reads it.
      await db.raw('GRANT SELECT ON knex_migrations TO gateway_api, gateway_worker, gateway_admin');
      return applied;
    } finally {
      await db.destroy();
    }
  });
}

/** The names of migrations that the database still lacks; /readyz wants none. */
export async function pendingMigrations(db: Knex): Promise<string[]> {
  const names = MIGRATIONS.map((migration) => migration.name);
  if (!(await db.schema.hasTable('knex_migrations'))) return names;
  const done = await db('knex_migrations').select<{ name: string }[]>('name');
  const applied = new Set(done.map((row) => row.name));
  return names.filter((name) => !applied.has(name));
}
