/**
 * Calls to providers in local activities (decisions/workflows#provider-calls). A call that this process may not
 * make, or that is slow, fails at once, and the workflow's regular activity makes it in the provider's
 * task queue.
 */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { limitCalls, SlowProvider } from '../src/adapters/providers/provider-http';
import { providerQueue } from '../workflows/names';
import { isLocalCall } from './caller';

/** The limit for all calls of one activity, because the workflow task waits for them. */
const LOCAL_MS_MAX = 2_000;
/** The limit at one provider in one mode, in this process. */
export const LOCAL_CALLS_MAX = 8;
/** A provider that was slow is called in its task queue during this time. */
const SLOW_FOR_MS = 30_000;

type At = Parameters<typeof providerQueue>[0];

export class LocalCalls {
  readonly #queues: ReadonlySet<string>;
  readonly #running = new Map<string, number>();
  readonly #slowUntil = new Map<string, number>();

  /** @param queues the queues of the providers that this process may call in local activities */
  constructor(queues: Iterable<string>) {
    this.#queues = new Set(queues);
  }

  /**
   * Runs the part of an activity that calls the provider. Regular activities are not limited.
   * @throws ApplicationFailure that is not retried: the call belongs in the provider's task queue
   */
  async run<T>(at: At, calls: () => Promise<T>): Promise<T> {
    if (!isLocalCall()) return calls();
    const queue = providerQueue(at);
    if (!this.#isAllowed(queue)) throw elsewhere(`The call is made in the task queue ${queue}.`);
    this.#count(queue, 1);
    try {
      return await limitCalls(LOCAL_MS_MAX, calls);
    } catch (error) {
      if (!(error instanceof SlowProvider)) throw error;
      this.#slowUntil.set(queue, performance.now() + SLOW_FOR_MS);
      throw elsewhere(`${error.message} The task queue ${queue} continues.`);
    } finally {
      this.#count(queue, -1);
    }
  }

  #isAllowed(queue: string): boolean {
    return (
      this.#queues.has(queue) &&
      (this.#running.get(queue) ?? 0) < LOCAL_CALLS_MAX &&
      (this.#slowUntil.get(queue) ?? 0) <= performance.now()
    );
  }

  #count(queue: string, change: number): void {
    this.#running.set(queue, (this.#running.get(queue) ?? 0) + change);
  }
}

function elsewhere(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'Elsewhere',
    message,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
