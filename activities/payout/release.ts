/**
 * The release of a payout that waits for conditions (decisions/payout-conditions): one transaction that looks
 * at the conditions, and releases the payout when all are met, or returns its funds when its time is
 * over. Safe to run at any time and twice: a guarded transition decides against cancel and reject.
 */
import { databaseTime } from '../../src/db/database-time';
import { meetConditions } from '../../src/db/repositories/payout-conditions';
import { lockPayout } from '../../src/db/repositories/payout-decisions';
import { releasePosting } from '../../src/domain/ledger';
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
