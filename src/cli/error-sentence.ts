/** What a command says when it could not be done. */
import { errorText, UsageError } from '../lib/command-line';
import { AdminRefusal, InvalidInput } from '../services/admin/refusal';

export function errorSentence(error: unknown): string {
  if (error instanceof InvalidInput) return error.sentence;
  // knex puts the statement in front, at times with its values, and one may be a secret's hash.
  if (error instanceof Error && 'severity' in error) {
    return `The database refused it: ${error.message.split(' - ').at(-1) ?? ''}`;
  }
  return errorText(error);
}

/**
 * The error to throw when something broke on the way, so that it is open what became of the
 * operation; a refusal stays what it is.
 * @param what a sentence about what is not known
 * @param once what the command does with an id that it knows: `posts`
 */
export function unclear(error: unknown, id: string, what: string, once: string): unknown {
  const isRefusal = [AdminRefusal, InvalidInput, UsageError].some((kind) => error instanceof kind);
  if (isRefusal) return error;
  return new Error(
    `${errorSentence(error)}\n${what} Send the same command with --operation-id ${id}: it ${once} ` +
      'once.',
    { cause: error },
  );
}
