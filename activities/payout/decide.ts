/** The steps of a payout that involve no provider: approve, reject, cancel. */
import { releasePosting } from '../../src/domain/ledger';
import { DEFAULT_REJECTION_REASON } from '../../src/domain/payout';
import type { PayoutState } from '../../workflows/messages';
import type { Deps } from '../deps';
import { applyTransition, reportPayout, type Transition } from './transition';

export interface StepResult {
  applied: boolean;
  state: PayoutState;
}

/** @param by the operator, or null: the delay ran out, or the operator left no name */
export async function approvePayout(
  deps: Deps,
  payoutId: string,
  by: string | null,
): Promise<StepResult> {
  return step(deps, payoutId, { trigger: 'approve', change: { decidedBy: by } });
}

/** Only before anything was submitted: after that, money may be on its way (decision O5). */
export async function rejectPayout(
  deps: Deps,
  payoutId: string,
  by: string | null,
  reason: string | null,
): Promise<StepResult> {
  return step(deps, payoutId, {
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
export async function cancelPayout(deps: Deps, payoutId: string, by: string): Promise<StepResult> {
  const transition = {
    trigger: 'cancel',
    change: { decidedBy: by },
    posting: releasePosting,
  } as const;
  const { applied, payout } = await applyTransition(deps, payoutId, transition);
  const appliedBefore = payout.status === 'cancelled' && payout.decidedBy === by;
  return { applied: applied || appliedBefore, state: reportPayout(payout, new Date()) };
}

async function step(deps: Deps, payoutId: string, transition: Transition): Promise<StepResult> {
  const { applied, payout } = await applyTransition(deps, payoutId, transition);
  return { applied, state: reportPayout(payout, new Date()) };
}
