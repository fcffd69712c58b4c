/**
 * `npm run reset`: removes the development data, so that the next `npm start` is a first one.
 */
import { existsSync, rmSync } from 'node:fs';
import { stopLeftoverPostgres } from '../db/local-postgres';
import { refuseWhileRunning } from '../dev/instance';
import { dataLayout } from '../dev/layout';
import { stopLeftovers } from '../dev/run-record';
import { SetupError } from '../lib/setup-error';

const HELP = `Usage: npm run reset

Removes the data folder of \`npm start\` with everything in it: the database, the workflows, the
keys and the logs. Refuses while \`npm start\` runs.

Environment:
  GATEWAY_DATA_DIR     the data folder (.gateway)
`;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const layout = dataLayout(process.env);
  if (!existsSync(layout.folder)) {
    process.stdout.write(`${layout.folder} does not exist; nothing to remove\n`);
    return;
  }
  refuseWhileRunning(layout);
  const log = (line: string): void => void process.stdout.write(`${line}\n`);
  // The record may be what is damaged; then only PostgreSQL's own is left to go by.
  await stopLeftovers(layout.runRecord, log).catch(() => undefined);
  await stopLeftoverPostgres(layout.postgres, log);
  rmSync(layout.folder, { recursive: true, force: true });
  log(`removed ${layout.folder}`);
}

main().catch((error: unknown) => {
  const text = error instanceof SetupError ? error.message : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
});
