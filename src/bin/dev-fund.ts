/**
 * `npm run dev:fund`: gives the demo merchant money to try payouts with. It is an adjustment like
 * an operator's, so that every invariant of the ledger still holds.
 */
import { connect } from '../db/connect';
import { withClient } from '../db/provision';
import type { Db } from '../db/transaction';
import { developmentDatabaseUrl } from '../dev/database-address';
import { findDemoMerchant } from '../dev/seed';
import { MODES, type Mode } from '../domain/mode';
import { errorText, parseOptions, UsageError } from '../lib/command-line';
import { newId } from '../lib/new-id';
import { SetupError } from '../lib/setup-error';
import { createAdjustment, type ShownAdjustment } from '../services/admin/adjustments';
import { InvalidInput } from '../services/admin/refusal';

const HELP = `Usage: npm run dev:fund -- --currency CODE --amount AMOUNT [--mode test|live]

Adds AMOUNT to the demo merchant's available balance and prints the new balance. Development only;
\`npm start\` has to be running.

  --currency CODE      a currency that the gateway knows, such as USDT
  --amount AMOUNT      more than zero, with at most 8 decimals: 1000 or 0.5
  --mode test|live     whose balance (test)

Environment:
  GATEWAY_DATA_DIR     the data folder (.gateway), whose dev.json names the database

Exit codes: 0 funded, 1 it could not be done, 2 a wrong argument
`;

const OPTIONS = {
  currency: { type: 'string' },
  amount: { type: 'string' },
  mode: { type: 'string' },
  help: { type: 'boolean' },
} as const;

interface Request {
  currency: string;
  /** As text; the service checks it. */
  amount: string;
  mode: Mode;
}

async function main(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const request = readArguments(args);
  if (request === null) {
    process.stdout.write(HELP);
    return;
  }
  if (env['GATEWAY_ENV'] === 'production') {
    throw new SetupError('dev:fund makes money out of nothing; it refuses in production.');
  }
  const url = developmentDatabaseUrl(env);
  // Asked first by a plain client: knex would print a failed connection to stdout.
  await withClient(url, (client) => client.query('SELECT 1'));
  const db = connect({ url, size: 1, applicationName: 'gateway-dev-fund' });
  try {
    const { available, reserved } = await fund(db, request);
    const { currency, mode } = request;
    process.stdout.write(
      `Demo merchant, ${mode} mode: ${available} ${currency} available, ${reserved} reserved\n`,
    );
  } finally {
    await db.destroy();
  }
}

/** Null when help is asked for. */
function readArguments(args: string[]): Request | null {
  const { currency, amount, mode, help } = parseOptions(args, OPTIONS);
  if (help === true) return null;
  if (currency === undefined) throw new UsageError('--currency is missing, such as USDT.');
  if (amount === undefined) throw new UsageError('--amount is missing, such as 1000.');
  const known = MODES.find((candidate) => candidate === (mode ?? 'test'));
  if (known === undefined) {
    throw new UsageError(`--mode ${mode ?? ''} does not exist: it is test or live.`);
  }
  return { currency, amount, mode: known };
}

async function fund(db: Db, request: Request): Promise<ShownAdjustment> {
  const accountId = await findDemoMerchant(db);
  if (accountId === null) {
    throw new SetupError('The database has no demo merchant: `npm start` makes it.');
  }
  const by = { actor: 'dev:fund', reason: 'Development funds' };
  const id = newId('adjustment');
  return createAdjustment(db, by, { ...request, id, accountId, direction: 'in' });
}

main(process.argv.slice(2), process.env).catch((error: unknown) => {
  const wrongValue = error instanceof InvalidInput;
  process.stderr.write(`${wrongValue ? error.sentence : errorText(error)}\n`);
  process.exitCode = wrongValue || error instanceof UsageError ? 2 : 1;
});
