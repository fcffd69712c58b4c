/**
 * Brings a gateway's database to the newest schema. Called by `npm run migrate`, by `npm start` and by the tests.
 */
import {
  applyMigrations,
  type Migration,
  missingMigrations,
  type Schema,
} from '../platform/postgres/migrate';
import { MIGRATIONS } from './migrations';
import { REPLACED } from './migrations/replaced';
import type { Reader } from './transaction';

const RECORD = 'public.schema_migrations';

/** After a dump was loaded; the tests of the migrations have other ones, without events. */
const ALIGN_EVENT_CLOCK = `DO $$ BEGIN
  IF to_regproc('align_event_clock') IS NOT NULL THEN PERFORM align_event_clock(); END IF;
END $$;`;

/**
 * By default, every login of the server may connect to a new database and make temporary tables there. Here the
 * roles of the programs connect, and the ledger check makes temporary tables. Each time, because a dump does
 * not contain these rights. The schema of the wallet may be in the same database.
 */
const CLOSE_DATABASE = `DO $$ DECLARE
  name text := quote_ident(current_database());
  wallet_owner text := (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'wallet');
BEGIN
  EXECUTE 'REVOKE CONNECT, TEMPORARY ON DATABASE ' || name || ' FROM PUBLIC';
  EXECUTE 'GRANT CONNECT ON DATABASE ' || name ||
    ' TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard';
  EXECUTE 'GRANT TEMPORARY ON DATABASE ' || name || ' TO gateway_worker';
  IF wallet_owner IS NOT NULL AND to_regrole('wallet_app') IS NOT NULL THEN
    EXECUTE 'GRANT CONNECT ON DATABASE ' || name || ' TO wallet_app';
    EXECUTE 'GRANT CONNECT ON DATABASE ' || name || ' TO ' || wallet_owner || ' WITH GRANT OPTION';
  END IF;
END $$;`;

const SCHEMA: Schema = {
  applicationName: 'gateway-migrate',
  namespace: 'public',
  record: RECORD,
  lock: 7_204_118,
  before: '',
  after: ALIGN_EVENT_CLOCK + CLOSE_DATABASE,
  replaced: {
    record: 'public.knex_migrations',
    names: REPLACED,
    adopt: `
      GRANT SELECT ON ${RECORD} TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
      ALTER TABLE payout_decisions VALIDATE CONSTRAINT payout_decisions_outcome_check;
      -- The role reads the whole table.
      REVOKE SELECT (id, account_id, mode, events, enabled, timeouts_in_a_row, deleted_at)
        ON webhook_endpoints FROM gateway_api`,
    command: 'npm run migrate',
  },
};

/**
 * @param ownerUrl connection of the role that owns the schema, not the application's
 * @returns the names of the migrations that this call applied
 * @throws SetupError when the database lacks a migration that the baseline replaces
 */
export function migrate(
  ownerUrl: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  return applyMigrations(ownerUrl, SCHEMA, migrations);
}

/** The names of migrations that the database still lacks; /readyz wants none. */
export function pendingMigrations(db: Reader): Promise<string[]> {
  return missingMigrations(db, RECORD, MIGRATIONS);
}
