/**
 * The release of a payout that waits for conditions (decisions/payouts#payout-conditions): one transaction that looks
 * at the conditions, and releases the payout when all are met, or returns its funds when its time is
 * over, its payment was refunded or its recipient has changed. Safe to run at any time and twice: a guarded transition decides against cancel and reject.
 */
import { databaseTime } from '../../src/db/database-time';
import { AWAITS_BLOCKED, meetConditions } from '../../src/db/payouts/payout-conditions';
import { lockPayout } from '../../src/db/payouts/payout-decisions';
import { returnPosting } from '../../src/domain/ledger';
import {
  type Payout,
  DEFAULT_REJECTION_REASON,
  PAYMENT_REFUNDED,
  RECIPIENT_CHANGED,
} from '../../src/domain/payout';
import { BLOCKED_BY } from '../../src/domain/screening';
import type { PayoutState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { review } from './decide';
import { cancelDelayMs, reportReviewed } from './report';
import { type Transition, transitionIn } from './transition';

export async function releasePayout(deps: Deps, payoutId: string): Promise<PayoutState> {
  return inEventTransaction(deps, payoutId, async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    if (payout.awaitsRelease !== true) return reportReviewed(tx, payout);
    const now = await databaseTime(tx);
    const expiry = { ...EXPIRY, change: { releaseExpiredAt: now } };
    const expired = await transitionIn(tx, payoutId, expiry);
    if (expired !== null) return reportReviewed(tx, expired);
    for (const end of endsOf(payout)) {
      const ended = await transitionIn(tx, payoutId, end);
      if (ended !== null) return reportReviewed(tx, ended);
    }
    const reviewed = await transitionIn(tx, payoutId, review(payout));
    if (reviewed !== null) return reportReviewed(tx, reviewed);
    await meetConditions(tx, payoutId);
    const released =
      cancelDelayMs(payout, now) > 0
        ? null
        : await transitionIn(tx, payoutId, { trigger: 'release' });
    return reportReviewed(tx, released ?? payout, { lookedAt: now });
  });
}

/** The transitions that may end the wait, besides that of its time. */
function endsOf({ recipientId }: Payout): Transition[] {
  return [PAYMENT_LOST, ...(recipientId === null ? [] : [RECIPIENT_LOST, RECIPIENT_BLOCKED])];
}

const EXPIRY = {
  trigger: 'expire',
  only: 'awaits_release AND release_expires_at <= clock_timestamp()',
  posting: returnPosting,
} as const;

/** The money that the payout was to follow has gone back to the customer. */
const PAYMENT_LOST = {
  trigger: 'invalidate',
  only: 'awaits_release AND NOT payment_stands(id)',
  change: { failureReason: PAYMENT_REFUNDED },
  posting: returnPosting,
} as const;

/** The payout does not go to its copy of a destination that the merchant has changed. */
const RECIPIENT_LOST = {
  trigger: 'invalidate',
  only: 'awaits_release AND NOT recipient_stands(id)',
  change: { failureReason: RECIPIENT_CHANGED },
  posting: returnPosting,
} as const;

/** The rejection has the reason of a blocked payout, so that nobody learns of the screening. */
const RECIPIENT_BLOCKED = {
  trigger: 'reject',
  only: AWAITS_BLOCKED,
  change: { decidedBy: BLOCKED_BY, rejectionReason: DEFAULT_REJECTION_REASON },
  posting: returnPosting,
} as const;
