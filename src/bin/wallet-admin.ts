/** `npm run wallet`: an operator's commands of the wallet. src/rails/wallet/commands.ts has them. */
import { runAsMain } from '../platform/lib/command-line';
import { runWalletCommand } from '../rails/wallet/commands';

runAsMain(module, runWalletCommand);
