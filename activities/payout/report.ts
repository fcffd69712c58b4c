/** A payout that is not approved yet, as its workflow sees it. */
import { listConditions } from '../../src/db/payouts/payout-conditions';
import { readFourEyes } from '../../src/db/payouts/payout-decisions';
import { databaseTime } from '../../src/db/database-time';
import type { Db, Tx } from '../../src/db/transaction';
import type { Payout } from '../../src/domain/payout';
import { conditionWords } from '../../src/domain/payout-condition';
import { autoApproveDelayMs } from '../../src/domain/review';
import type { PayoutState, Waiting } from '../../workflows/messages';
import { reportPayout } from './transition';

/**
 * The payout with the approvals and the conditions that it needs.
 * @param now PostgreSQL's time, if it is known
 */
export async function reportReviewed(
  db: Db | Tx,
  payout: Payout,
  now?: Date,
): Promise<PayoutState> {
  const at = now ?? (await databaseTime(db));
  const state = reportPayout(payout, at);
  const fourEyes = payout.status === 'under_review' ? await readFourEyes(db, payout.id) : null;
  return {
    ...state,
    ...(fourEyes === null ? {} : { fourEyes }),
    ...(payout.awaitsRelease === true ? { waiting: await reportWaiting(db, payout, at) } : {}),
  };
}

/** The rest of the time in which a payout without a review can be cancelled. */
export function cancelDelayMs({ mode, createdAt, reviewReasons }: Payout, now: Date): number {
  if (reviewReasons.length > 0) return 0;
  return Math.max(0, autoApproveDelayMs(mode) - (now.getTime() - createdAt.getTime()));
}

/** A time that has passed is not looked at again at once, because nothing may have changed. */
const LOOK_AGAIN_MS_MIN = 100;
/**
 * A time that passed longer ago is not looked at again: what is still missing, such as a recipient's
 * screening, comes with a message.
 */
const LOOKED_AT_MS = 1_000;

async function reportWaiting(db: Db | Tx, payout: Payout, now: Date): Promise<Waiting> {
  const { status, releaseExpiresAt } = payout;
  const open = (await listConditions(db, payout.id)).filter(({ metAt }) => metAt === null);
  const due = open
    .flatMap(({ parameters }) => ('at' in parameters ? [new Date(parameters.at).getTime()] : []))
    .filter((at) => at > now.getTime() - LOOKED_AT_MS);
  if (releaseExpiresAt !== null) due.push(releaseExpiresAt.getTime());
  if (open.length === 0 && status === 'requested') {
    due.push(now.getTime() + cancelDelayMs(payout, now));
  }
  const lookInMs =
    due.length === 0 ? null : Math.max(LOOK_AGAIN_MS_MIN, Math.min(...due) - now.getTime());
  const expiresAt = releaseExpiresAt?.toISOString() ?? null;
  return { for: open.map(conditionWords), lookInMs, expiresAt };
}
