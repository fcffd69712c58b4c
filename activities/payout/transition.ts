/**
 * One status change of a payout: the guarded UPDATE, its event and its posting in one transaction.
 * The guard decides every race: the second caller changes nothing and gets the current state.
 */
import { resolveOpenCase } from '../../src/db/cases/cases';
import { appendEvent, type EventTx } from '../../src/db/webhooks/events';
import { postAtCommit } from '../../src/db/ledger/ledger';
import { getPayout, takeTransition, type PayoutChange } from '../../src/db/payouts/payouts';
import type { Tx } from '../../src/db/transaction';
import type { Posting } from '../../src/domain/ledger';
import { isFinalPayout, type Payout, type PayoutTrigger } from '../../src/domain/payout';
import { autoApproveDelayMs } from '../../src/domain/review';
import type { PayoutState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayout } from '../events';
import { endRefundOf } from '../payment/pay-refund';

export interface Transition {
  trigger: PayoutTrigger;
  change?: PayoutChange;
  /** An SQL condition over the row, in addition to the transition table. */
  only?: string;
  /** The money that moves with it. */
  posting?: (payout: Payout) => Posting;
  /** Writes more in the same transaction, if the guard holds. */
  also?: (tx: Tx) => Promise<void>;
}

export interface TransitionResult {
  /** Whether the transition was applied; false if the payout had another status. */
  applied: boolean;
  payout: Payout;
}

export function applyTransition(
  deps: Deps,
  payoutId: string,
  transition: Transition,
): Promise<TransitionResult> {
  return inEventTransaction(deps, payoutId, async (tx) => {
    const payout = await transitionIn(tx, payoutId, transition);
    if (payout === null) return { applied: false, payout: await getPayout(tx, payoutId) };
    return { applied: true, payout };
  });
}

/** @returns null, and nothing is changed, when a guard does not hold */
export async function transitionIn(
  tx: EventTx,
  payoutId: string,
  { trigger, change = {}, only, posting, also }: Transition,
): Promise<Payout | null> {
  const payout = await takeTransition(tx, payoutId, trigger, change, only);
  if (payout === null) return null;
  appendEvent(tx, eventOfPayout(payout));
  // A payout that its screening holds is decided with it.
  if (trigger === 'reject' && payout.mode === 'live') {
    await resolveOpenCase(tx, 'screening_review', payoutId, 'The payout was rejected.');
  }
  await also?.(tx);
  const ofRefund = isFinalPayout(payout.status) ? await endRefundOf(tx, payout) : null;
  if (posting !== undefined) postAtCommit(tx, payout, posting(payout));
  if (ofRefund !== null) postAtCommit(tx, payout, ofRefund);
  return payout;
}

/** A payout's row as its workflow sees it, without the recipient. */
export function reportPayout(
  payout: Payout,
  now: Date,
  wait: PayoutState['wait'] = null,
): PayoutState {
  const age = now.getTime() - payout.createdAt.getTime();
  return {
    provider: payout.provider,
    mode: payout.mode,
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
