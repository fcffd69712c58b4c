/** `wallet transfer`: shows what payouts wait for, and decides those that a person must judge. */
import type { Command } from '@commander-js/extra-typings';
import {
  BY,
  type CommandParts,
  JSON_OUTPUT,
  MODE,
  print,
  readMode,
  REASON,
} from '../command-options';
import { decideTransfer } from './decide-transfer';
import { describeWaiting, listWaiting } from './waiting-list';

/** Command → what it decides. */
const DECISIONS = {
  fail: {
    outcome: 'failed',
    description:
      'Ends a payout as failed: nothing of it was paid, and nothing will be. Every node is asked.',
    done: 'has failed. The gateway is told, and releases its money.',
  },
  confirm: {
    outcome: 'confirmed',
    description: 'Ends a payout as sent: its recipient has the money.',
    done: 'is confirmed. The gateway is told.',
  },
} as const;

export function addTransferCommands(command: Command, parts: CommandParts): void {
  const { out, networks, withDatabase } = parts;
  const transfer = command
    .command('transfer')
    .description('shows payouts that wait, and decides one that a person must judge');
  transfer
    .command('waiting')
    .description('Lists the payouts that wait, the longest wait first: for what, and since when.')
    .option(...JSON_OUTPUT)
    .action(async ({ json }) => {
      const waiting = await withDatabase(listWaiting);
      const text =
        waiting.length === 0 ? 'No payout waits.\n' : waiting.map(describeWaiting).join('');
      print(parts, json, waiting, text);
    });
  for (const [name, { outcome, description, done }] of Object.entries(DECISIONS)) {
    transfer
      .command(name)
      .description(description)
      .argument('<REFERENCE>', 'the client reference, as the gateway ordered it')
      .requiredOption(...BY)
      .requiredOption(...REASON)
      .option(...MODE)
      .action(async (reference, { by, reason, mode: text }) => {
        const mode = text === undefined ? null : readMode(text);
        // Only what has failed is compared with the chain.
        const asked = outcome === 'failed' ? networks() : [];
        await withDatabase((db) =>
          decideTransfer(db, asked, { reference, outcome, by, reason, mode }),
        );
        out(`${reference} ${done}\n`);
      });
  }
}
