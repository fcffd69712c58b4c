/** `npm run wallet`: an operator's commands of the wallet, from the terminal. */
import { text as readAll } from 'node:stream/consumers';
import { createCommand, type Program, runCommand } from '../lib/command-line';
import { createDepositKey } from './signer/deposit-key';
import { createKeystore } from './signer/keystore';

const COMMAND = 'npm run wallet --';

const HELP = `
Examples:
  ${COMMAND} key create --keystore hot.json --password-file hot.password
  ${COMMAND} key import --keystore hot.json --password-file hot.password < key.hex

Exit codes: 0 done, 1 refused or not possible, 2 a wrong argument
`;

const KEYSTORE = ['--keystore <FILE>', 'the encrypted key; a new file'] as const;
const PASSWORD = ['--password-file <FILE>', 'a file that contains the password'] as const;

export const runWalletCommand: Program = (args, terminal) => {
  const command = createCommand(COMMAND, terminal)
    .description('Manages the keys of the wallet.')
    .addHelpText('after', HELP);
  const key = command.command('key').description('the encrypted key of a hot wallet');
  key
    .command('create')
    .description('Creates a random key in an encrypted file and prints its address.')
    .requiredOption(...KEYSTORE)
    .requiredOption(...PASSWORD)
    .action(({ keystore, passwordFile }) => {
      terminal.out(`${createKeystore({ keystore, password: passwordFile })}\n`);
    });
  key
    .command('import')
    .description('Encrypts a private key, read from standard input, and prints its address.')
    .requiredOption(...KEYSTORE)
    .requiredOption(...PASSWORD)
    .action(async ({ keystore, passwordFile }) => {
      const privateKey = await readAll(process.stdin);
      terminal.out(`${createKeystore({ keystore, password: passwordFile }, privateKey)}\n`);
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
      terminal.out(`${createDepositKey({ keystore, password: passwordFile })}\n`);
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
      terminal.out(`${createDepositKey({ keystore, password: passwordFile }, extended)}\n`);
    });
  return runCommand(command, args, terminal);
};
