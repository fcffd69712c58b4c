/** `npm run admin`: an operator's decisions, from the terminal. src/shell/admin has the nouns. */
import { runAdmin } from '../shell/admin/admin';
import { runAsMain } from '../platform/lib/command-line';

runAsMain(module, runAdmin);
