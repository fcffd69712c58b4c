/**
 * `npm run reset`: removes the development data, so that the next `npm start` is a first one.
 */
import { existsSync, rmSync } from 'node:fs';
import { refuseWhileRunning, stopLeftovers } from '../dev/instance';
import { createCommand, runAsMain, runCommand, type Program } from '../platform/lib/command-line';
import { dataLayout } from '../platform/lib/data-folder';

const HELP = `
Environment:
  GATEWAY_DATA_DIR     the data folder (.gateway)

Exit codes: 0 removed, 1 refused or failed, 2 a wrong argument
`;

export const runReset: Program = (args, terminal) => {
  const command = createCommand('npm run reset', terminal)
    .description(
      'Removes the data folder of `npm start` with everything in it: the database, the ' +
        'workflows, the keys and the logs. Refuses while `npm start` runs.',
    )
    .addHelpText('after', HELP)
    .action(() => reset(terminal.env, (line) => terminal.out(`${line}\n`)));
  return runCommand(command, args, terminal);
};

async function reset(env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<void> {
  const layout = dataLayout(env);
  if (!existsSync(layout.folder)) {
    log(`${layout.folder} does not exist; nothing to remove`);
    return;
  }
  refuseWhileRunning(layout);
  await stopLeftovers(layout, log);
  rmSync(layout.folder, { recursive: true, force: true });
  log(`removed ${layout.folder}`);
}

runAsMain(module, runReset);
