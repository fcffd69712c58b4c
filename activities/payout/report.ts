/** A payout's row as its workflow sees it: where it stands, nothing of whom it pays. */
import type { Payout } from '../../src/domain/payout';
import { autoApproveDelayMs } from '../../src/domain/review';
import type { PayoutState, Wait } from '../../workflows/messages';

export function reportPayout(payout: Payout, now: Date, wait: Wait | null = null): PayoutState {
  const age = now.getTime() - payout.createdAt.getTime();
  return {
    status: payout.status,
    amount: payout.amount,
    currency: payout.currency,
    sequence: payout.sequence,
    autoApproveInMs:
      payout.status === 'requested' ? Math.max(0, autoApproveDelayMs(payout.mode) - age) : null,
    reviewReasons: payout.reviewReasons,
    attentionLevel: payout.attentionLevel,
    wait,
  };
}
