/** `wallet transfer`: shows what payouts wait for, and decides those that a person must judge. */
import type { Command } from '@commander-js/extra-typings';
import { type Terminal, UsageError } from '../../../platform/lib/command-line';
import type { Database } from '../db/database';
import type { Network } from '../networks';
import { decideTransfer, type TransferDecision } from './decide-transfer';
import { describeWaiting, listWaiting } from './waiting-list';

interface CommandParts {
  networks: () => readonly Network[];
  withDatabase: <T>(work: (db: Database) => Promise<T>) => Promise<T>;
}

const REFERENCE = ['<REFERENCE>', 'the client reference, as the gateway ordered it'] as const;
const BY = ['--by <NAME>', 'who decides this'] as const;
const REASON = ['--reason <TEXT>', 'why, for the other operators'] as const;
const MODE = ['--mode <MODE>', 'test or live, where both have the reference'] as const;

export function addTransferCommands(
  command: Command,
  { out }: Terminal,
  { networks, withDatabase }: CommandParts,
): void {
  const transfer = command
    .command('transfer')
    .description('shows payouts that wait, and decides one that a person must judge');
  transfer
    .command('waiting')
    .description('Lists the payouts that wait, the longest wait first: for what, and since when.')
    .option('--json', 'as JSON')
    .action(async ({ json }) => {
      const waiting = await withDatabase(listWaiting);
      if (json === true) out(`${JSON.stringify(waiting)}\n`);
      else out(waiting.length === 0 ? 'No payout waits.\n' : waiting.map(describeWaiting).join(''));
    });
  transfer
    .command('fail')
    .description(
      'Ends a payout as failed: nothing of it was paid, and nothing will be. Every node is asked.',
    )
    .argument(...REFERENCE)
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .option(...MODE)
    .action(async (reference, { by, reason, mode }) => {
      const decision = { reference, by, reason, mode: readMode(mode), outcome: 'failed' as const };
      await withDatabase((db) => decideTransfer(db, networks(), decision));
      out(`${reference} has failed. The gateway is told, and releases its money.\n`);
    });
  transfer
    .command('confirm')
    .description('Ends a payout as sent: its recipient has the money.')
    .argument(...REFERENCE)
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .option(...MODE)
    .action(async (reference, { by, reason, mode }) => {
      const decided = { reference, by, reason, mode: readMode(mode) };
      const decision = { ...decided, outcome: 'confirmed' as const };
      await withDatabase((db) => decideTransfer(db, [], decision));
      out(`${reference} is confirmed. The gateway is told.\n`);
    });
}

function readMode(text: string | undefined): TransferDecision['mode'] {
  if (text === undefined) return null;
  if (text === 'test' || text === 'live') return text;
  throw new UsageError('--mode is test or live.');
}
