/** Runs on a schedule: asks the sources of the screening about new destinations of live recipients. */
import { activities } from './activities';

const { screenRecipients } = activities<'screenRecipients'>({
  startToCloseTimeout: '60 seconds',
  // The schedule runs again soon, so a run must be short.
  retry: { maximumAttempts: 3 },
});

/** @returns for how many there was an answer */
export async function screenRecipientsWorkflow(): Promise<number> {
  return (await screenRecipients()).answered;
}
