/**
 * The parts that the programs in src/bin share: options and help by commander, exit codes, and a
 * sentence for what went wrong. A program is a function of its arguments and its terminal, so that
 * tests run it in their own process.
 */
import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
} from '@commander-js/extra-typings';
import { withSecretFiles } from '../settings/secret-files';
import { SetupError } from './setup-error';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Where a program writes, and what it reads besides its arguments. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  out: (text: string) => void;
  err: (text: string) => void;
}

/** @returns the exit code */
export type Program = (args: readonly string[], terminal: Terminal) => Promise<number>;

/** A wrong argument that only the program itself can recognize: exit code 2. */
export class UsageError extends SetupError {}

/** @param name what the user types before the options: `npm run migrate` */
export function createCommand(name: string, { out, err }: Terminal): Command {
  return new Command(name)
    .helpOption('--help', 'show this help')
    .helpCommand(false)
    .showHelpAfterError('Add --help for the options and examples.')
    .configureOutput({ writeOut: out, writeErr: err })
    .exitOverride(({ exitCode, code, message }) => {
      throw new CommanderError(exitCode === DONE ? DONE : WRONG_USAGE, code, message);
    });
}

/** Makes the parser of a whole number in an option or argument. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[0-9]{1,10}$/.test(value.trim()) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Refuses an option that is given twice: commander would use the last one, and the person may mean the first. */
function refuseRepeatedOptions(command: CommandUnknownOpts): void {
  for (const option of command.options) {
    // The option is a list, or its parser collects values.
    if (option.variadic || (option.parseArg?.length ?? 0) > 1) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) {
        const message = `error: option '${option.long ?? option.flags}' is given more than once. Give it once.`;
        command.error(message, { exitCode: WRONG_USAGE, code: 'gateway.repeatedOption' });
      }
      isGiven = true;
    });
  }
  for (const inner of command.commands) refuseRepeatedOptions(inner);
}

/**
 * @param sentence what to print for an error of the command's action
 * @returns the exit code
 */
export async function runCommand(
  command: CommandUnknownOpts,
  args: readonly string[],
  terminal: Terminal,
  sentence: (error: unknown) => string = errorText,
): Promise<number> {
  try {
    refuseRepeatedOptions(command);
    await command.parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    // commander has already printed its own error.
    if (error instanceof CommanderError) return error.exitCode;
    if (error instanceof UsageError) {
      terminal.err(`error: ${error.message}\n`);
      return WRONG_USAGE;
    }
    terminal.err(`${sentence(error)}\n`);
    return FAILED;
  }
}

/** Runs the program of a file in src/bin when that file is what Node was started with. */
export function runAsMain(file: NodeJS.Module, program: Program): void {
  if (require.main !== file) return;
  const err = (text: string) => process.stderr.write(text);
  const out = (text: string) => process.stdout.write(text);
  try {
    const env = withSecretFiles(process.env);
    void program(process.argv.slice(2), { env, out, err }).then((exitCode) => {
      process.exitCode = exitCode;
    });
  } catch (error) {
    err(`${errorText(error)}\n`);
    process.exitCode = FAILED;
  }
}

/** The text of an error. A connection that fails on every address of a name has none of its own. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorText).join('; ');
  // knex prepends the statement, sometimes with its values, which could include a secret's hash.
  if (error instanceof Error && 'severity' in error) return error.message.split(' - ').at(-1) ?? '';
  return error instanceof Error ? error.message : String(error);
}
