/**
 * The release of a payout that waits for conditions (decisions/payout-conditions): one transaction that looks
 * at the conditions, and releases the payout when all are met, or returns its funds when its time is
 * over or its recipient has changed. Safe to run at any time and twice: a guarded transition decides against cancel and reject.
 */
import { databaseTime } from '../../src/db/database-time';
import { meetConditions } from '../../src/db/repositories/payout-conditions';
import { lockPayout } from '../../src/db/repositories/payout-decisions';
import { releasePosting } from '../../src/domain/ledger';
import { RECIPIENT_CHANGED } from '../../src/domain/payout';
import type { PayoutState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { cancelDelayMs, reportReviewed } from './report';
import { transitionIn } from './transition';

export async function releasePayout(deps: Deps, payoutId: string): Promise<PayoutState> {
  return inEventTransaction(deps, payoutId, async (tx, deliveries) => {
    const payout = await lockPayout(tx, payoutId);
    if (payout.awaitsRelease !== true) return reportReviewed(tx, payout);
    const now = await databaseTime(tx);
    const expiry = { ...EXPIRY, change: { releaseExpiredAt: now } };
    const expired = await transitionIn(tx, payoutId, expiry, deliveries);
    if (expired !== null) return reportReviewed(tx, expired);
    const lost =
      payout.recipientId === null
        ? null
        : await transitionIn(tx, payoutId, RECIPIENT_LOST, deliveries);
    if (lost !== null) return reportReviewed(tx, lost);
    await meetConditions(tx, payoutId);
    const released =
      cancelDelayMs(payout, now) > 0
        ? null
        : await transitionIn(tx, payoutId, { trigger: 'release' }, deliveries);
    return reportReviewed(tx, released ?? payout);
  });
}

const EXPIRY = {
  trigger: 'expire',
  only: 'awaits_release AND release_expires_at <= clock_timestamp()',
  posting: releasePosting,
} as const;

/** The payout does not go to its copy of a destination that the merchant has changed. */
const RECIPIENT_LOST = {
  trigger: 'invalidate',
  only: 'awaits_release AND NOT recipient_stands(id)',
  change: { failureReason: RECIPIENT_CHANGED },
  posting: releasePosting,
} as const;
