/**
 * `npm run migrate`: brings the database that DATABASE_OWNER_URL names to the newest schema. An
 * operator runs it before a new version starts; several at once wait for each other.
 */
import { migrate } from '../db/migrate';
import {
  createCommand,
  errorText,
  runAsMain,
  runCommand,
  type Program,
} from '../platform/lib/command-line';
import { readSetting } from '../platform/settings/read-settings';

const HELP = `
Environment:
  DATABASE_OWNER_URL   the database, as the role that owns the schema (not the application's role):
                       postgres://owner:password@host:5432/gateway

Exit codes: 0 the schema is up to date, 1 the migration failed, 2 a wrong argument
`;

export const runMigrate: Program = (args, terminal) => {
  const command = createCommand('npm run migrate', terminal)
    .description('Migrates the database to the newest schema. Running it again changes nothing.')
    .addHelpText('after', HELP)
    .action(async () => {
      const applied = await migrate(readSetting('DATABASE_OWNER_URL', terminal.env));
      terminal.out(applied.map((name) => `applied ${name}\n`).join(''));
      terminal.out('the schema is up to date\n');
    });
  return runCommand(
    command,
    args,
    terminal,
    (error) => `The database was not migrated: ${errorText(error)}`,
  );
};

runAsMain(module, runMigrate);
