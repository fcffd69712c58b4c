/** A payout that is not approved yet, as its workflow sees it. */
import { listConditions } from '../../src/db/payouts/payout-conditions';
import { type FourEyes, readFourEyes } from '../../src/db/payouts/payout-decisions';
import { databaseTime } from '../../src/db/database-time';
import type { Db, Tx } from '../../src/db/transaction';
import type { Payout } from '../../src/domain/payout';
import { conditionWords } from '../../src/domain/payout-condition';
import { autoApproveDelayMs } from '../../src/domain/review';
import type { PayoutState, Waiting } from '../../workflows/messages';
import { reportPayout } from './transition';

export interface Known {
  /** PostgreSQL's time, if it is known. */
  now?: Date;
  /** What `readFourEyes` would find, if it is known. */
  fourEyes?: FourEyes | null;
  /** PostgreSQL's time before the conditions were looked at; absent if they were not. */
  lookedAt?: Date;
}

/** The payout with the approvals and the conditions that it needs. */
export async function reportReviewed(
  db: Db | Tx,
  payout: Payout,
  { now, lookedAt, fourEyes: known }: Known = {},
): Promise<PayoutState> {
  const at = now ?? lookedAt ?? (await databaseTime(db));
  const state = reportPayout(payout, at);
  const fourEyes =
    payout.status !== 'under_review'
      ? null
      : known === undefined
        ? await readFourEyes(db, payout.id)
        : known;
  return {
    ...state,
    ...(fourEyes === null ? {} : { fourEyes }),
    ...(payout.awaitsRelease === true
      ? { waiting: await reportWaiting(db, payout, at, lookedAt) }
      : {}),
  };
}

/** The rest of the time in which a payout without a review can be cancelled. */
export function cancelDelayMs({ mode, createdAt, reviewReasons }: Payout, now: Date): number {
  if (reviewReasons.length > 0) return 0;
  return Math.max(0, autoApproveDelayMs(mode) - (now.getTime() - createdAt.getTime()));
}

/** The shortest timer, so that a look that changes nothing is not repeated at once. */
const LOOK_AGAIN_MS_MIN = 100;
/**
 * A look that found a condition open after its time is repeated after this long. What is still missing,
 * such as a recipient's screening, comes with a message, and restart-missing looks each minute.
 */
const LOOK_AGAIN_MS = 3_600_000;

async function reportWaiting(
  db: Db | Tx,
  payout: Payout,
  now: Date,
  lookedAt?: Date,
): Promise<Waiting> {
  const { status, releaseExpiresAt } = payout;
  const open = (await listConditions(db, payout.id)).filter(({ metAt }) => metAt === null);
  const nextLook = (at: number) =>
    lookedAt !== undefined && at <= lookedAt.getTime() ? now.getTime() + LOOK_AGAIN_MS : at;
  const due = open.flatMap(({ parameters }) =>
    'at' in parameters ? [nextLook(new Date(parameters.at).getTime())] : [],
  );
  if (releaseExpiresAt !== null) due.push(releaseExpiresAt.getTime());
  if (open.length === 0 && status === 'requested') {
    due.push(now.getTime() + cancelDelayMs(payout, now));
  }
  const lookInMs =
    due.length === 0 ? null : Math.max(LOOK_AGAIN_MS_MIN, Math.min(...due) - now.getTime());
  const expiresAt = releaseExpiresAt?.toISOString() ?? null;
  return { for: open.map(conditionWords), lookInMs, expiresAt };
}
