/** `wallet restore`: ends a stop of payouts after a restore, or after somebody else has used the key. */
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import { createChain } from '../chain/chain';
import {
  BY,
  type CommandParts,
  findNetwork,
  JSON_OUTPUT,
  networkCommand,
  print,
  readAddress,
  REASON,
  SIGNER,
} from '../command-options';
import { chooseSigner } from './choose-signer';
import { decideUnknown } from './decide-unknown';
import { beginRestore, describeRestore, readRestore } from './restore';

const HELP = `
Without an option it shows what stops the payouts, and the next step. The wallet must be running: it signs
the empty transactions, and ends the stop when every transaction is explained.

Examples:
  npm run wallet -- restore ethereum
  npm run wallet -- restore ethereum --cancel --by alice --reason "restored the backup of 12:00"
  npm run wallet -- restore ethereum --paid 0x5c50…=po_123 --by alice --reason "seen in the explorer"
  npm run wallet -- restore ethereum --all-foreign --by alice --reason "sent by hand before the installation"
`;

export function addRestoreCommand(command: Command, parts: CommandParts): void {
  networkCommand(command, 'restore', 'Shows what stops the payouts of a network, and ends it.')
    .option('--cancel', 'send an empty transaction for each nonce that may be used unknown')
    .option('--paid <HASH=REFERENCE...>', 'the transaction has paid this queued payout')
    .option('--foreign <HASH...>', 'the transaction has paid no payout')
    .option('--all-foreign', 'none of the listed transactions without --paid has paid a payout')
    .option('--unseen <NONCE...>', 'the nonce, whose transaction no node shows, has paid no payout')
    .option(...SIGNER)
    .option(...BY)
    .option(...REASON)
    .option(...JSON_OUTPUT)
    .addHelpText('after', HELP)
    .action(async (name, { by, reason, mode, json, signer, cancel, ...decisions }) => {
      const network = findNetwork(parts, name, mode);
      const chain = createChain(network);
      const { paid = [], foreign = [], allForeign, unseen = [] } = decisions;
      const decides = allForeign === true || paid.length + foreign.length + unseen.length > 0;
      if (cancel === true || decides) {
        if (by === undefined || reason === undefined)
          throw new UsageError('Name --by and --reason.');
        if (cancel === true && decides) throw new UsageError('Decide after --cancel has ended.');
        await parts.withDatabase(async (db) => {
          if (cancel === true) {
            await beginRestore(db, chain, { by, reason });
            return;
          }
          const named = signer === undefined ? undefined : readAddress(signer);
          const address = await chooseSigner(db, network, named);
          await decideUnknown(db, chain, address, {
            ...{ by, reason, paid: paid.map(readPaid), unseen: unseen.map(readNonce) },
            foreign: allForeign === true ? 'all' : foreign,
          });
        });
      }
      const wallets = await parts.withDatabase((db) => readRestore(db, chain));
      print(parts, json, wallets, describeRestore(chain, wallets));
    });
}

function readPaid(text: string): { hash: string; reference: string } {
  const [hash = '', reference = '', ...rest] = text.split('=');
  if (/^0x[0-9a-fA-F]{64}$/.test(hash) && reference !== '' && rest.length === 0) {
    return { hash, reference };
  }
  throw new UsageError(`--paid ${text} must be a transaction's hash, =, and a payout's reference.`);
}

function readNonce(text: string): bigint {
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  throw new UsageError(`--unseen ${text} must be a nonce.`);
}
