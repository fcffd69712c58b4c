/** `wallet chain`: who pauses a whole chain, or accepts another one, and why. */
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../platform/lib/command-line';
import { createChain } from './chain/chain';
import { findPause, pause, resume } from './chain/pause';
import { BY, type CommandParts, findNetwork, networkCommand, REASON } from './command-options';
import { type Database, findLockHolder } from './db/database';
import { chainLock } from './driver';
import { type AcceptedChain, acceptChain } from './follower/accept-chain';
import type { Network } from './networks';

export function addChainCommands(command: Command, parts: CommandParts): void {
  const { out, withDatabase } = parts;
  const chain = command.command('chain').description('stops a whole chain, and lets it go on');
  networkCommand(
    chain,
    'pause',
    'Stops reading blocks, signing and broadcasting, until `chain resume`.',
  )
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .action(async (name, { by, reason, mode }) => {
      const network = findNetwork(parts, name, mode);
      await withDatabase(async (db) => {
        await pause(db, network.chainId, 'chain', { by, reason });
        await waitUntilIdle(db, network.chainId);
      });
      out(`${nameOf(network)} is paused. Nothing is read, signed or broadcast.\n`);
    });
  networkCommand(
    chain,
    'resume',
    'Ends `chain pause`, and the pause after a reorganization below final.',
  )
    .requiredOption(...BY)
    .action(async (name, { by, mode }) => {
      const network = findNetwork(parts, name, mode);
      const wasPaused = await withDatabase((db) => resume(db, network.chainId, 'chain', by));
      out(`${nameOf(network)} ${wasPaused ? 'goes on' : 'was not paused'}.\n`);
    });
  networkCommand(
    chain,
    'accept',
    'Accepts the chain of the nodes after a reorganization below final, and goes on.',
  )
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .option('--resend', 'broadcast again the final payouts that the chain does not have')
    .action(async (name, { by, reason, resend = false, mode }) => {
      const network = findNetwork(parts, name, mode);
      const accepted = await withDatabase(async (db) => {
        if ((await findPause(db, network.chainId)) !== null)
          await waitUntilIdle(db, network.chainId);
        return acceptChain(db, createChain(network), { by, reason, resend });
      });
      out(`${nameOf(network)} goes on. ${describeAccepted(accepted)}`);
    });
}

function describeAccepted({ fork, reopened, missing, gaps }: AcceptedChain): string {
  const lines = [
    `The chain is read again from block ${fork + 1}.`,
    `Payouts that are followed again and broadcast where they are missing: ${reopened}.`,
    `Credited deposits of replaced blocks: ${missing}. An alarm names each that is not on this chain.`,
    ...gaps.map(
      ({ signer, nonce }) =>
        `Nonce ${nonce} of ${signer} is not used on this chain, and the wallet has no transaction for it. Later payouts wait until you send any transaction with it.`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function nameOf({ name, mode, chainId }: Network): string {
  return `${name} (${mode} mode, chain ${chainId})`;
}

const IDLE_WITHIN_MS = 60_000;
const LOOK_MS = 200;

/** Waits until the step that was under way has ended. */
async function waitUntilIdle(db: Database, chainId: number): Promise<void> {
  const giveUpAt = performance.now() + IDLE_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    if ((await findLockHolder(db, chainLock(chainId))) === null) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new UsageError(
    'The chain is paused, but a step is still under way. `status` shows the process that works on it.',
  );
}
