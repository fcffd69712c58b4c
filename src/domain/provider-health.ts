/** How a provider answers, by what became of the requests of the last minutes. */

export type ProviderHealth = 'healthy' | 'some_failed' | 'failing';

/** Fewer failures say nothing about a provider. */
const FAILURES_MIN = 3;

/** @returns `failing` when half of the requests or more have no answer or an error */
export function healthOf({ calls, failed }: { calls: number; failed: number }): ProviderHealth {
  if (failed < FAILURES_MIN) return 'healthy';
  return failed * 2 >= calls ? 'failing' : 'some_failed';
}
