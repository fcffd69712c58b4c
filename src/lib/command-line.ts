/**
 * What the programs in src/bin share: reading options, and a sentence for what went wrong.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { SetupError } from './setup-error';

/** A wrong argument. Programs end with exit code 2. */
export class UsageError extends SetupError {}

/** @throws UsageError for an option that the program does not have, or a value that is missing */
export function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError(`${errorText(error)} --help shows the options.`, { cause: error });
  }
}

/** The error's own words. A connection that fails on every address of a name has none itself. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorText).join('; ');
  return error instanceof Error ? error.message : String(error);
}
