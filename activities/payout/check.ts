/** Asks the provider what became of a payout it holds. A callback is only the reason to ask. */
import { getPayout } from '../../src/db/repositories/payouts';
import type { PayoutState } from '../../workflows/messages';
import { providerOf, type PayoutDeps } from './deps';
import { reportPayout } from './report';
import { recordTransfer, waitForProvider } from './transfer';

export async function checkPayout(deps: PayoutDeps, payoutId: string): Promise<PayoutState> {
  const payout = await getPayout(deps.db, payoutId);
  if (payout.status !== 'processing') return reportPayout(payout, new Date());
  const found = await providerOf(deps, payout).findPayout(payout.id);
  if (found.kind === 'found') return recordTransfer(deps.db, payout, found.transfer);
  const why =
    found.kind === 'unknown'
      ? `waits for the provider to answer: ${found.reason}`
      : 'waits for the provider to find the transfer that it has accepted';
  return waitForProvider(deps.db, payout, payout.processingSince ?? payout.updatedAt, why);
}
