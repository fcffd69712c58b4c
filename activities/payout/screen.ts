/**
 * The screening of a payout before its submission (decisions/screening). Only a clear answer, or an
 * operator's decision, lets `beginSubmission` begin; here the answer is asked for, and everything else is acted on.
 */
import { openCase, resolveOpenCase } from '../../src/db/repositories/cases';
import {
  deleteScreeningHold,
  type Finding,
  holdForScreening,
} from '../../src/db/repositories/screening';
import { databaseTime } from '../../src/db/database-time';
import { releasePosting } from '../../src/domain/ledger';
import { DEFAULT_REJECTION_REASON, type Payout } from '../../src/domain/payout';
import { attentionLevel, nextAttemptMs } from '../../src/domain/provider-checks';
import { ANSWER_VALID_MS, BLOCKED_BY } from '../../src/domain/screening';
import { screen, subjectOfPayout } from '../../src/screening/screening';
import type { PayoutState } from '../../workflows/messages';
import type { Deps } from '../deps';
import { applyTransition, reportPayout } from './transition';

const REVIEW = 'screening_review';

/** @param payout that `beginSubmission` found unscreened */
export async function screenPayout(deps: Deps, payout: Payout): Promise<PayoutState> {
  const screened = await screen(deps, subjectOfPayout(deps.secretBox, payout));
  switch (screened.kind) {
    case 'clear':
      // The workflow's next turn submits it.
      return reportPayout(payout, await databaseTime(deps.db));
    case 'no_answer':
      return waitForAnswer(deps, payout, screened);
    case 'review':
      return waitForOperator(deps, payout, screened.answers);
    case 'block':
      // Money may be on its way, so nothing can be returned: an operator decides.
      return payout.submissionStartedAt === null
        ? block(deps, payout, screened.answers)
        : waitForOperator(deps, payout, screened.answers);
  }
}

/** The payout is being submitted: nothing holds it any more. */
export async function endHold({ db }: Deps, payoutId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await deleteScreeningHold(tx, payoutId);
    // After an operator's decision it is resolved already.
    await resolveOpenCase(tx, REVIEW, payoutId, 'A later answer is clear.');
  });
}

async function waitForAnswer(
  { db }: Deps,
  payout: Payout,
  { reason, retryAfterMs }: { reason: string; retryAfterMs: number | null },
): Promise<PayoutState> {
  const hold = await db.transaction((tx) =>
    holdForScreening(tx, payout.id, { kind: 'no_answer', reason }),
  );
  const now = await databaseTime(db);
  const waitedMs = now.getTime() - hold.since.getTime();
  const why = `Waiting for the screening of the destination: ${reason} Nothing is sent without an answer.`;
  const wait = { ms: retryAfterMs ?? nextAttemptMs(waitedMs), why };
  return { ...reportPayout(payout, now, wait), ...attentionOf(payout, waitedMs) };
}

/** A held payout needs attention as one that waits for its provider does. */
function attentionOf({ attentionLevel: level }: Payout, waitedMs: number) {
  return { attentionLevel: Math.max(level, attentionLevel(waitedMs)) };
}

async function waitForOperator(
  { db }: Deps,
  payout: Payout,
  answers: readonly Finding[],
): Promise<PayoutState> {
  const reason = 'The screening of the destination asks for a review.';
  await db.transaction(async (tx) => {
    await holdForScreening(tx, payout.id, { kind: 'review', reason });
    await openCase(tx, REVIEW, payout.id, evidenceOf(answers));
  });
  const wait = { ms: ANSWER_VALID_MS, why: `Waiting for an operator to decide: ${reason}` };
  const state = reportPayout(payout, await databaseTime(db), wait);
  return { ...state, attentionLevel: Math.max(1, state.attentionLevel) };
}

/**
 * Rejects the payout for the reason that an operator's rejection without a reason has, so that nobody
 * learns of the screening.
 */
async function block(
  deps: Deps,
  payout: Payout,
  answers: readonly Finding[],
): Promise<PayoutState> {
  const rejected = await applyTransition(deps, payout.id, {
    trigger: 'reject',
    only: 'submission_started_at IS NULL',
    change: { decidedBy: BLOCKED_BY, rejectionReason: DEFAULT_REJECTION_REASON },
    posting: releasePosting,
    also: (tx) => openCase(tx, 'screening_blocked', payout.id, evidenceOf(answers)),
  });
  return reportPayout(rejected.payout, await databaseTime(deps.db));
}

/** For the case: each source's answer, without the destination, which the payout has. */
export function evidenceOf(answers: readonly Finding[]) {
  return {
    answers: answers.map(({ id, source, verdict, reference, reasons }) => ({
      id,
      source,
      verdict,
      reference,
      reasons,
    })),
  };
}
