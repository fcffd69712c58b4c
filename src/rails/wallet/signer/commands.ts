/** `wallet key` and `wallet deposit-key`: makes the encrypted keys, or encrypts given ones. */
import { text as readAll } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import { type CommandParts, PASSWORD } from '../command-options';
import { createDepositKey } from './deposit-key';
import { createKeystore } from './keystore';

const KEYSTORE = ['--keystore <FILE>', 'the encrypted key; a new file'] as const;

export function addKeyCommands(command: Command, { out }: CommandParts): void {
  const key = command.command('key').description('the encrypted key of a hot wallet');
  key
    .command('create')
    .description('Creates a random key in an encrypted file and prints its address.')
    .requiredOption(...KEYSTORE)
    .requiredOption(...PASSWORD)
    .action(({ keystore, passwordFile }) => {
      out(`${createKeystore({ keystore, password: passwordFile })}\n`);
    });
  key
    .command('import')
    .description('Encrypts a private key, read from standard input, and prints its address.')
    .requiredOption(...KEYSTORE)
    .requiredOption(...PASSWORD)
    .action(async ({ keystore, passwordFile }) => {
      const privateKey = await readAll(process.stdin);
      out(`${createKeystore({ keystore, password: passwordFile }, privateKey)}\n`);
    });
  const deposits = command
    .command('deposit-key')
    .description('the encrypted key of the deposit addresses, for sweeps');
  deposits
    .command('create')
    .description('Creates a random key and prints its extended public key.')
    .requiredOption(...KEYSTORE)
    .requiredOption(...PASSWORD)
    .action(({ keystore, passwordFile }) => {
      out(`${createDepositKey({ keystore, password: passwordFile })}\n`);
    });
  deposits
    .command('import')
    .description(
      'Encrypts an extended private key (xprv…), read from standard input, and prints its xpub.',
    )
    .requiredOption(...KEYSTORE)
    .requiredOption(...PASSWORD)
    .action(async ({ keystore, passwordFile }) => {
      const extended = await readAll(process.stdin);
      out(`${createDepositKey({ keystore, password: passwordFile }, extended)}\n`);
    });
}
