/**
 * `npm run dev:fund`: funds the demo merchant, to try payouts. It posts an adjustment, as an operator
 * would, so that every invariant of the ledger still holds.
 */
import { Option } from '@commander-js/extra-typings';
import { errorSentence } from '../kit/admin/errors';
import { connect } from '../db/connect';
import { withClient } from '../db/provision';
import { findDemoMerchant } from '../db/accounts/accounts';
import type { Db } from '../db/transaction';
import { MODES, type Mode } from '../domain/mode';
import {
  createCommand,
  runAsMain,
  runCommand,
  UsageError,
  type Program,
} from '../platform/lib/command-line';
import { developmentDatabaseUrl } from '../platform/lib/data-folder';
import { newId } from '../platform/lib/new-id';
import { SetupError } from '../platform/lib/setup-error';
import { createAdjustment, type AdjustmentResult } from '../features/books/adjustments';
import { InvalidInput } from '../kit/service/refusal';

const HELP = `
Environment:
  GATEWAY_DATA_DIR     the data folder (.gateway); its dev.json names the database

Exit codes: 0 funded, 1 refused or failed, 2 a wrong argument

Example:
  npm run dev:fund -- --currency USDT --amount 1000
`;

interface Funding {
  currency: string;
  /** The text as typed; the service checks it. */
  amount: string;
  mode: Mode;
}

export const runDevFund: Program = (args, terminal) => {
  const command = createCommand('npm run dev:fund --', terminal)
    .description(
      "Adds funds to the demo merchant's available balance and prints the new balance. " +
        'Development only; `npm start` must be running.',
    )
    .requiredOption('--currency <CODE>', 'a supported currency, such as USDT')
    .requiredOption('--amount <AMOUNT>', 'more than zero, at most 8 decimals, such as 1000 or 0.5')
    .addOption(new Option('--mode <MODE>', 'the balance').choices(MODES).default('test' as const))
    .addHelpText('after', HELP)
    .action(async (funding) => {
      terminal.out(await fund(terminal.env, funding));
    });
  return runCommand(command, args, terminal);
};

async function fund(env: NodeJS.ProcessEnv, funding: Funding): Promise<string> {
  if (env['GATEWAY_ENV'] === 'production') {
    throw new SetupError('dev:fund creates money, so it refuses to run in production.');
  }
  const url = developmentDatabaseUrl(env);
  // A plain client connects first, because knex would print a failed connection to stdout.
  await withClient(url, (client) => client.query('SELECT 1'));
  const db = connect({ url, size: 1, applicationName: 'gateway-dev-fund' });
  try {
    const { available, reserved } = await post(db, funding);
    const { currency, mode } = funding;
    return `Demo merchant, ${mode} mode: ${available} ${currency} available, ${reserved} reserved\n`;
  } catch (error) {
    throw error instanceof InvalidInput ? new UsageError(errorSentence(error)) : error;
  } finally {
    await db.destroy();
  }
}

async function post(db: Db, funding: Funding): Promise<AdjustmentResult> {
  const accountId = await findDemoMerchant(db);
  if (accountId === null) {
    throw new SetupError('The database has no demo merchant. `npm start` creates it.');
  }
  const by = { actor: 'dev:fund', reason: 'Development funds' };
  const id = newId('adjustment');
  return createAdjustment(db, by, { ...funding, id, accountId, direction: 'in' });
}

runAsMain(module, runDevFund);
