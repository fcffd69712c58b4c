/** `npm run admin`: what an operator decides, from the terminal. src/cli has the commands. */
import { runCommand } from '../cli/run-command';

void runCommand(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode = exitCode;
});
