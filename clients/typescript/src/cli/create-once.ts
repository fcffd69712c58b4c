/** Creates an object once, however often the request is sent. */
import { newIdempotencyKey } from '../request';
import type { Run } from './command';
import { CommandError, exitCodeOf, isUnknownResult } from './failure';

export const IDEMPOTENCY_KEY = {
  'idempotency-key': { value: '<key>', help: 'to repeat an earlier request (default: a new one)' },
} as const;

/**
 * All attempts have the same key. When no answer says what became of the request, the error names the
 * key.
 */
export async function createOnce<Created>(
  what: string,
  values: Run['values'],
  create: (idempotencyKey: string) => Promise<Created>,
): Promise<Created> {
  const idempotencyKey = values.text('idempotency-key') ?? newIdempotencyKey();
  try {
    return await create(idempotencyKey);
  } catch (error) {
    if (!isUnknownResult(error)) throw error;
    const remedy = `The ${what} may have been created. Repeat the command with --idempotency-key ${idempotencyKey}.`;
    throw new CommandError('The result is not known.', exitCodeOf(error), remedy, error);
  }
}
