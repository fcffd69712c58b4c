/** Runs every hour: verifies the ledger and pauses payouts if it is broken (docs/operations.md). */
import { log } from '@temporalio/workflow';
import { activities } from './activities';

const { checkLedger } = activities<'checkLedger'>({
  // It reads every ledger entry.
  startToCloseTimeout: '40 minutes',
  retry: { maximumAttempts: 3 },
});

export async function ledgerCheckWorkflow(): Promise<{ broken: number[] }> {
  const { broken } = await checkLedger();
  if (broken.length > 0) log.error('the ledger is broken, payouts are paused', { broken });
  return { broken };
}
