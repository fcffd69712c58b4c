/**
 * Runs every five minutes: verifies what has changed in the ledger, and pauses payouts if it is broken
 * (docs/operations.md).
 */
import { log } from '@temporalio/workflow';
import { activities } from './activities';

const { checkLedger } = activities<'checkLedger'>({
  // The first check reads every ledger entry. Its statements end earlier than the activity.
  startToCloseTimeout: '40 minutes',
  retry: { maximumAttempts: 3 },
});

export async function ledgerCheckWorkflow(): Promise<{ checked: number; broken: number[] }> {
  const { checked, broken } = await checkLedger();
  if (broken.length > 0) log.error('the ledger is broken, payouts are paused', { broken });
  return { checked, broken };
}
