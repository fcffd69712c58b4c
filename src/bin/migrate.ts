/**
 * `npm run migrate`: brings the database that DATABASE_OWNER_URL names to the newest schema. An
 * operator runs it before a new version starts; several at once wait for each other.
 */
import { migrate } from '../db/migrate';
import { errorText, parseOptions, UsageError } from '../lib/command-line';
import { SetupError } from '../lib/setup-error';

const HELP = `Usage: npm run migrate

Brings the database to the newest schema. Running it again changes nothing.

Environment:
  DATABASE_OWNER_URL   connects the role that owns the schema, which is not the application's:
                       postgres://owner:password@host:5432/gateway

Exit codes: 0 the schema is the newest, 1 it could not be done, 2 a wrong argument
`;

async function main(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (parseOptions(args, { help: { type: 'boolean' } }).help === true) {
    process.stdout.write(HELP);
    return;
  }
  const ownerUrl = env['DATABASE_OWNER_URL'] ?? '';
  if (!/^postgres(ql)?:\/\//.test(ownerUrl)) {
    throw new SetupError(
      ownerUrl === ''
        ? 'DATABASE_OWNER_URL is not set: it connects the role that owns the schema, as in ' +
            'postgres://owner:password@host:5432/gateway.'
        : 'DATABASE_OWNER_URL is not a PostgreSQL address: it begins with postgres://.',
    );
  }
  const applied = await migrate(ownerUrl);
  const done = applied.map((name) => `applied ${name}\n`).join('');
  process.stdout.write(`${done}the schema is the newest\n`);
}

main(process.argv.slice(2), process.env).catch((error: unknown) => {
  process.stderr.write(`The database was not migrated: ${errorText(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
