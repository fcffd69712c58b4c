/** `wallet sweep`, `sweep-cancel` and `sweep-sign`: their options, and what they print. */
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import {
  BY,
  CHAIN,
  type CommandParts,
  findByChainId,
  PASSWORD,
  readAddress,
  REASON,
} from '../command-options';
import { runSweep, runSweepSign, type SweepOptions } from './command';
import { cancelSweep } from './store';

export function addSweepCommands(command: Command, parts: CommandParts): void {
  const { out, withDatabase } = parts;
  const report = (line: string): void => {
    out(`${line}\n`);
  };
  command
    .command('sweep')
    .description('Moves the final deposits of an asset to one address; says what it costs first.')
    .requiredOption(...CHAIN)
    .requiredOption('--asset <CODE>', 'the coin or token')
    .requiredOption('--to <ADDRESS>', 'where the money goes')
    .option('--minimum <AMOUNT>', 'leave out addresses with less')
    .option('--plan', 'only say what would be done')
    .option('--run', 'sign; the wallet funds and sends. Needs --keystore and --password-file')
    .option('--export <FILE>', 'write the transactions for sweep-sign')
    .option('--import <FILE>', 'check what sweep-sign has written; the wallet funds and sends')
    .option('--keystore <FILE>', 'the deposit key')
    .option(...PASSWORD)
    .action(async (options) => {
      const network = findByChainId(parts, options.chainId);
      const { asset, minimum } = options;
      const to = readAddress(options.to);
      const way = readSweepWay(options);
      await withDatabase((db) => runSweep(db, { network, asset, to, minimum, way }, report));
    });
  command
    .command('sweep-cancel')
    .description('Stops a sweep: nothing more of it is broadcast, and it can be ordered again.')
    .argument('<ID>', 'of `status`')
    .requiredOption(...REASON)
    .requiredOption(...BY)
    .action(async (id, { by, reason }) => {
      const wasOpen = await withDatabase((db) => cancelSweep(db, id, { by, reason }));
      if (!wasOpen) throw new UsageError(`There is no sweep ${id} under way. See \`status\`.`);
      out(`${id} is cancelled. Transactions that were broadcast before may still be mined.\n`);
    });
  command
    .command('sweep-sign')
    .description('Signs a batch of `sweep --export`; needs neither a database nor a chain.')
    .requiredOption('--batch <FILE>', 'what `sweep --export` has written')
    .requiredOption('--out <FILE>', 'the signed batch, for `sweep --import`')
    .requiredOption('--keystore <FILE>', 'the deposit key')
    .requiredOption(...PASSWORD)
    .action(async ({ batch, out: signed, keystore, passwordFile }) => {
      await runSweepSign({ batch, out: signed, key: { keystore, password: passwordFile } }, report);
    });
}

interface SweepWays {
  plan?: true | undefined;
  run?: true | undefined;
  export?: string | undefined;
  import?: string | undefined;
  keystore?: string | undefined;
  passwordFile?: string | undefined;
}

function readSweepWay(options: SweepWays): SweepOptions['way'] {
  const { plan, run, export: exported, import: imported, keystore, passwordFile } = options;
  const chosen = [plan, run, exported, imported].filter((one) => one !== undefined);
  if (chosen.length !== 1) {
    throw new UsageError('Name one of --plan, --run, --export and --import.');
  }
  if (exported !== undefined) return { do: 'export', file: exported };
  if (imported !== undefined) return { do: 'import', file: imported };
  if (plan === true) return { do: 'plan' };
  if (keystore === undefined || passwordFile === undefined) {
    throw new UsageError('--run needs --keystore and --password-file.');
  }
  return { do: 'run', key: { keystore, password: passwordFile } };
}
