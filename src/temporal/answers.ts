/** The one place where Temporal's failures become values that the services understand. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

/** The workflow did not answer in time or could not be reached: what happened is not known. */
export interface NoAnswer {
  kind: 'no_answer';
  cause: unknown;
}

/** The workflow has completed: its object is final or never came to be. */
export interface Closed {
  kind: 'closed';
}

export async function translate<T>(ask: () => Promise<T>): Promise<T | Closed | NoAnswer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'closed' };
    return { kind: 'no_answer', cause: error };
  }
}
