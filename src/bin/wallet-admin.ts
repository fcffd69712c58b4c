/** `npm run wallet`: an operator's commands of the wallet. src/wallet/commands.ts has them. */
import { runAsMain } from '../lib/command-line';
import { runWalletCommand } from '../wallet/commands';

runAsMain(module, runWalletCommand);
