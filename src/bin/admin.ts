/** `npm run admin`: an operator's decisions, from the terminal. src/cli has the nouns. */
import { runAdmin } from '../cli/admin';
import { runAsMain } from '../lib/command-line';

runAsMain(module, runAdmin);
