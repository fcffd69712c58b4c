/** The steps of a payout that no provider has a part in: approve, reject, cancel. */
import type { Db } from '../../src/db/transaction';
import { releasePosting } from '../../src/domain/ledger';
import { DEFAULT_REJECTION_REASON } from '../../src/domain/payout';
import type { PayoutState } from '../../workflows/messages';
import { reportPayout } from './report';
import { applyTransition } from './transition';

export interface StepResult {
  applied: boolean;
  state: PayoutState;
}

/** @param by the operator, or null: the delay ran out, or the operator left no name */
export async function approvePayout(
  db: Db,
  payoutId: string,
  by: string | null,
): Promise<StepResult> {
  return step(db, payoutId, { trigger: 'approve', change: { decidedBy: by } });
}

/** Only before anything was submitted: after that, money may be on its way (decision O5). */
export async function rejectPayout(
  db: Db,
  payoutId: string,
  by: string | null,
  reason: string | null,
): Promise<StepResult> {
  return step(db, payoutId, {
    trigger: 'reject',
    only: 'submission_started_at IS NULL',
    change: { decidedBy: by, rejectionReason: reason ?? DEFAULT_REJECTION_REASON },
    posting: releasePosting,
  });
}

/**
 * @param by the merchant's request; the same request run again gets the first result, while
 *   another finds the payout cancelled already (decision O8)
 */
export async function cancelPayout(db: Db, payoutId: string, by: string): Promise<StepResult> {
  const transition = {
    trigger: 'cancel',
    change: { decidedBy: by },
    posting: releasePosting,
  } as const;
  const { applied, payout } = await applyTransition(db, payoutId, transition);
  const appliedBefore = payout.status === 'cancelled' && payout.decidedBy === by;
  return { applied: applied || appliedBefore, state: reportPayout(payout, new Date()) };
}

async function step(
  db: Db,
  payoutId: string,
  transition: Parameters<typeof applyTransition>[2],
): Promise<StepResult> {
  const { applied, payout } = await applyTransition(db, payoutId, transition);
  return { applied, state: reportPayout(payout, new Date()) };
}
