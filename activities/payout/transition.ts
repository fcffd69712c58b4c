/**
 * One status change of a payout: the guarded UPDATE, its event, its posting, one transaction. The
 * guard decides every race; who comes second changes nothing and learns how the payout stands.
 */
import { appendEvent } from '../../src/db/repositories/events';
import { post } from '../../src/db/repositories/ledger';
import { getPayout, takeTransition, type PayoutChange } from '../../src/db/repositories/payouts';
import { inTransaction, type Db, type Tx } from '../../src/db/transaction';
import { PAYOUT_EVENTS } from '../../src/domain/events';
import type { Posting } from '../../src/domain/ledger';
import type { Payout, PayoutTrigger } from '../../src/domain/payout';
import { presentPayout } from '../../src/presenters/payout';
import { newEvent } from '../new-event';

export interface Transition {
  trigger: PayoutTrigger;
  change?: PayoutChange;
  /** A narrower guard than the transition table: SQL over the row. */
  only?: string;
  /** The money that moves with it. */
  posting?: (payout: Payout) => Posting;
}

export interface TransitionResult {
  /** False: the payout stood elsewhere and nothing changed. */
  applied: boolean;
  payout: Payout;
}

export function applyTransition(
  db: Db,
  payoutId: string,
  transition: Transition,
): Promise<TransitionResult> {
  const { trigger, change = {}, only, posting } = transition;
  return inTransaction(db, async (tx) => {
    const payout = await takeTransition(tx, payoutId, trigger, change, only);
    if (payout === null) return { applied: false, payout: await getPayout(tx, payoutId) };
    await emit(tx, payout);
    if (posting !== undefined) await move(tx, payout, posting(payout));
    return { applied: true, payout };
  });
}

async function emit(tx: Tx, payout: Payout): Promise<void> {
  await appendEvent(tx, newEvent(PAYOUT_EVENTS[payout.status], payout, presentPayout(payout)));
}

async function move(tx: Tx, payout: Payout, posting: Posting): Promise<void> {
  const { outcome } = await post(tx, payout, posting);
  // The guarded UPDATE let this change pass once; anything but a first posting is a broken ledger.
  if (outcome !== 'posted') throw new Error(`${posting.operationKey}: ledger_post was ${outcome}`);
}
