/** What a command says when it could not be done. */
import { errorText } from '../lib/command-line';
import { InvalidInput } from '../services/admin/refusal';

export function errorSentence(error: unknown): string {
  if (error instanceof InvalidInput) return error.sentence;
  // knex puts the statement in front, at times with its values, and one may be a secret's hash.
  if (error instanceof Error && 'severity' in error) {
    return `The database refused it: ${error.message.split(' - ').at(-1) ?? ''}`;
  }
  return errorText(error);
}
