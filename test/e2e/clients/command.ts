/** The command `payments-gateway`, installed in a merchant's project, against a gateway that its tests share. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createProject, follow, type Project } from '../../support/merchant/installed-package';
import { useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';

/** Runs a program at a terminal of its own, which is what Python's pty module is for. */
const PTY = `import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`;

/** Called once by a file: both run while its tests do. */
export function useCommand() {
  const gateway = started(useSharedGateway);
  const project = started(createProject);
  return { gateway, project, ...commandIn(project) };
}

function commandIn(project: Project) {
  return {
    /** @returns the exit code with what was printed */
    run: async (args: readonly string[], env: NodeJS.ProcessEnv = {}, input = '') => {
      const command = project.start(args, env);
      command.child.stdin.end(input);
      return { code: await command.ended, ...command.output };
    },
    /** A user of the machine, with a folder for settings. */
    newUser: () => {
      const config = mkdtempSync(join(project.folder, 'config-'));
      return {
        env: { XDG_CONFIG_HOME: config },
        folder: join(config, 'payments-gateway'),
        file: join(config, 'payments-gateway/profiles.json'),
      };
    },
    /** Runs the command at a terminal and types an answer when it asks. */
    atTerminal: async (
      args: readonly string[],
      env: NodeJS.ProcessEnv,
      asks: RegExp,
      answer: string,
    ) => {
      const program = join(project.folder, 'node_modules/payments-gateway/dist/cli/main.js');
      const settings = { PATH: process.env['PATH'], ...env };
      const words = ['-c', PTY, process.execPath, program, ...args];
      const command = follow(spawn('python3', words, { env: settings }));
      await command.whenPrinted(asks);
      command.child.stdin.write(answer);
      return { code: await command.ended, text: command.output.text };
    },
  };
}

/** What a command that fails leaves. */
export const fails = (code: number, message: RegExp) => ({
  code,
  err: expect.stringMatching(message),
});

/** @returns the options of a payout, each of them once */
export const payoutOptions = ({
  amount = '1',
  reference = 'invoice-1',
  destination = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
} = {}) => [
  ...[`--amount=${amount}`, '--currency', 'USDT', '--network', 'tron'],
  ...['--reference', reference, '--destination', destination],
];

export const PAYOUT = payoutOptions();

export const settingsOf = ({ apiKey, baseUrl }: { apiKey: string; baseUrl: string }) => ({
  GATEWAY_API_KEY: apiKey,
  GATEWAY_BASE_URL: baseUrl,
});
