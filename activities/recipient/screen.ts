/**
 * The screening of live recipients (decisions/controls#screening). The transaction that writes a destination notes that the
 * sources are to be asked; here they are, outside of every transaction. Without an answer the recipient waits and
 * is asked about again.
 */
import { openCase } from '../../src/db/cases/cases';
import { findPayoutsAwaiting } from '../../src/db/payouts/payout-conditions';
import { noteRecipientVerdict, takeUnscreenedRecipients } from '../../src/db/recipients/recipients';
import type { Recipient } from '../../src/domain/recipient';
import type { Verdict } from '../../src/domain/screening';
import { screen, subjectOfRecipient } from '../../src/adapters/screening/screening';
import type { Deps } from '../deps';
import { evidenceOf } from '../payout/screen';
import { wakePayouts } from '../payout/wake';

export type ScreenRecipientsDeps = Pick<Deps, 'db' | 'screeningService' | 'payoutWorkflows'>;

const AT_ONCE = 5;
/** A run takes recipients for this long; the schedule runs again soon. */
const RUN_MS = 20_000;
/** More payouts are woken by `restart-missing`. */
const WOKEN_AT_ONCE = 100;

const CASES = { review: 'recipient_review', block: 'recipient_blocked' } as const;

export async function screenRecipients(deps: ScreenRecipientsDeps): Promise<{ answered: number }> {
  const endAt = performance.now() + RUN_MS;
  let answered = 0;
  while (performance.now() < endAt) {
    const taken = await takeUnscreenedRecipients(deps.db, AT_ONCE);
    if (taken.length === 0) break;
    const asked = await Promise.all(taken.map((recipient) => screenRecipient(deps, recipient)));
    answered += asked.filter((hasAnswer) => hasAnswer).length;
  }
  return { answered };
}

/** @returns whether there was an answer */
async function screenRecipient(deps: ScreenRecipientsDeps, recipient: Recipient): Promise<boolean> {
  const screened = await screen(deps, subjectOfRecipient(recipient));
  if (screened.kind === 'no_answer') return false;
  const evidence = 'answers' in screened ? evidenceOf(screened.answers) : {};
  if (await conclude(deps, recipient, screened.kind, evidence)) {
    const waiting = await findPayoutsAwaiting(deps.db, recipient.id, WOKEN_AT_ONCE);
    await wakePayouts(
      deps,
      waiting.map(({ id }) => id),
    );
  }
  return true;
}

/** @returns false, and nothing is written, when the recipient has another destination by now */
function conclude(
  { db }: ScreenRecipientsDeps,
  recipient: Recipient,
  verdict: Verdict,
  evidence: Record<string, unknown>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await noteRecipientVerdict(tx, recipient, verdict))) return false;
    const { destinationValue, network } = recipient;
    // The recipient can have another destination when somebody reads the case.
    const details = { ...evidence, destination: destinationValue, network };
    if (verdict !== 'clear') await openCase(tx, CASES[verdict], recipient.id, details);
    return true;
  });
}
