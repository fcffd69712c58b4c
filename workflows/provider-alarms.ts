/** Runs on a schedule: asks the providers for their alarms, such as a stopped signer of the wallet. */
import { activities } from './activities';

const { noteAlarms } = activities<'noteAlarms'>({
  startToCloseTimeout: '60 seconds',
  // The schedule runs again soon.
  retry: { maximumAttempts: 1 },
});

/** @returns how many alarms are open */
export async function providerAlarmsWorkflow(): Promise<number> {
  return noteAlarms();
}
