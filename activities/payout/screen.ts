/**
 * The screening of a payout before its submission (decisions/controls#screening). Only a clear answer, or an
 * operator's decision, lets `beginSubmission` begin; here the answer is asked for, and everything else is acted on.
 */
import { openCase, resolveOpenCase } from '../../src/db/cases/cases';
import { findDecision } from '../../src/db/payouts/payout-decisions';
import { getPayout } from '../../src/db/payouts/payouts';
import {
  deleteScreeningHold,
  type Finding,
  hasSources,
  holdForScreening,
  IS_BLOCKED,
  readPayoutScreening,
} from '../../src/db/screening/screening';
import type { Db, Tx } from '../../src/db/transaction';
import { databaseTime } from '../../src/db/database-time';
import { returnPosting } from '../../src/domain/ledger';
import { DEFAULT_REJECTION_REASON, type Payout } from '../../src/domain/payout';
import { attentionLevel, nextAttemptMs } from '../../src/domain/provider-checks';
import { ANSWER_VALID_MS, BLOCKED_BY } from '../../src/domain/screening';
import { screen, subjectOfPayout } from '../../src/adapters/screening/screening';
import type { PayoutState } from '../../workflows/messages';
import type { Deps } from '../deps';
import { applyTransition, reportPayout, type Transition } from './transition';

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

/** Whether its destination is screened before it is approved. */
export async function isScreenedFirst(db: Db | Tx, payout: Payout): Promise<boolean> {
  const { mode, status, awaitsRelease } = payout;
  const isNear = status === 'under_review' || (status === 'requested' && awaitsRelease !== true);
  return mode === 'live' && isNear && (await hasSources(db));
}

/**
 * Asks the sources that have no answer of the last day, so that an operator and the approval know the verdict.
 * The approval acts on it, and the submission asks again where an answer is missing or too old.
 * @param decisionId of the decision that waits for the answer, or null
 * @throws Error while a source does not answer
 */
export async function screenQueued(
  deps: Deps,
  payoutId: string,
  decisionId: string | null,
): Promise<void> {
  const payout = await getPayout(deps.db, payoutId);
  if (payout.status !== 'requested' && payout.status !== 'under_review') return;
  const decision = decisionId === null ? null : await findDecision(deps.db, decisionId);
  // A rejection does not wait for an answer.
  if (decision?.kind === 'reject') return;
  const screened = await screen(deps, subjectOfPayout(deps.secretBox, payout));
  if (screened.kind === 'no_answer') throw new Error(screened.reason);
}

/**
 * In place of an approval: a blocked payout is rejected without having been approved, so that the merchant does not
 * learn of the screening from an approval that is taken back at once.
 */
export function blockedRejection(payoutId: string): Transition {
  return {
    ...BLOCKED,
    only: `submission_started_at IS NULL AND ${IS_BLOCKED}`,
    also: async (tx) => {
      const screening = await readPayoutScreening(tx, payoutId);
      const answers = (screening?.sources ?? []).flatMap(({ answer }) =>
        answer === null || !answer.isCurrent || answer.verdict === 'clear' ? [] : [answer],
      );
      await openCase(tx, 'screening_blocked', payoutId, evidenceOf(answers));
    },
  };
}

/** The reason is that of an operator's rejection without a reason, so that nobody learns of the screening. */
const BLOCKED = {
  trigger: 'reject',
  change: { decidedBy: BLOCKED_BY, rejectionReason: DEFAULT_REJECTION_REASON },
  posting: returnPosting,
} as const;

/** The payout is being submitted: nothing holds it any more. */
export async function endHold({ db }: Deps, payoutId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await deleteScreeningHold(tx, payoutId);
    // An operator's decision has already resolved the case.
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

async function block(
  deps: Deps,
  payout: Payout,
  answers: readonly Finding[],
): Promise<PayoutState> {
  const rejected = await applyTransition(deps, payout.id, {
    ...BLOCKED,
    only: 'submission_started_at IS NULL',
    also: (tx) => openCase(tx, 'screening_blocked', payout.id, evidenceOf(answers)),
  });
  return reportPayout(rejected.payout, await databaseTime(deps.db));
}

/** The facts of the case: each source's answer, without the destination, which the payout has. */
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
