/** What a provider says of a transfer, brought into the payout and the books. */
import { openCase } from '../../src/db/repositories/cases';
import { getPayout, noteOnPayout } from '../../src/db/repositories/payouts';
import type { Db } from '../../src/db/transaction';
import { releasePosting, settlementPosting } from '../../src/domain/ledger';
import type { Payout } from '../../src/domain/payout';
import { attentionLevel, ESCALATION_AFTER_MS, nextCheckMs } from '../../src/domain/provider-checks';
import type { ProviderTransfer } from '../../src/providers/port';
import type { PayoutState } from '../../workflows/messages';
import { reportPayout } from './report';
import { applyTransition, type Transition } from './transition';

/** Takes every step that the provider's word allows: approved → processing → completed or failed. */
export async function recordTransfer(
  db: Db,
  payout: Payout,
  transfer: ProviderTransfer,
): Promise<PayoutState> {
  if (transfer.amount !== payout.amount || transfer.currency !== payout.currency) {
    return refuseMismatch(db, payout, transfer);
  }
  const accepted = payout.status === 'approved' ? await accept(db, payout, transfer) : payout;
  const ended = await end(db, accepted, transfer);
  return ended.status === 'processing'
    ? waitForProvider(db, ended, ended.processingSince ?? new Date(), WAITS_FOR_WORD)
    : reportPayout(ended, new Date());
}

const WAITS_FOR_WORD = "waits for the provider's final word";

async function accept(db: Db, payout: Payout, transfer: ProviderTransfer): Promise<Payout> {
  const { payout: accepted } = await applyTransition(db, payout.id, {
    trigger: 'accept',
    change: {
      providerTransferId: transfer.providerId,
      processingSince: new Date(),
      inDoubtSince: null,
      attentionLevel: 0,
    },
  });
  return accepted;
}

async function end(db: Db, payout: Payout, transfer: ProviderTransfer): Promise<Payout> {
  const transition = finalTransition(transfer);
  if (transition === null || payout.status !== 'processing') return payout;
  return (await applyTransition(db, payout.id, transition)).payout;
}

function finalTransition({ status, txHash, failureReason }: ProviderTransfer): Transition | null {
  switch (status) {
    case 'pending':
      return null;
    case 'sent':
      return {
        trigger: 'complete',
        change: { txHash, inDoubtSince: null, attentionLevel: 0 },
        posting: settlementPosting,
      };
    case 'failed':
      return {
        trigger: 'fail',
        change: {
          failureReason: failureReason ?? 'The provider could not send it.',
          inDoubtSince: null,
          attentionLevel: 0,
        },
        posting: releasePosting,
      };
  }
}

/** The provider holds something else under our reference: money must not move on its word. */
async function refuseMismatch(
  db: Db,
  payout: Payout,
  { amount, currency, status, providerId }: ProviderTransfer,
): Promise<PayoutState> {
  await openCase(db, 'transfer_mismatch', payout.id, {
    ours: { amount: payout.amount, currency: payout.currency },
    theirs: { amount, currency, status, id: providerId },
  });
  const why = 'waits for an operator: the provider has another amount or currency on record';
  return waitForProvider(db, payout, new Date(0), why);
}

/**
 * Notes that the payout waits for its provider since `since`, and calls an operator when that has
 * taken too long.
 */
export async function waitForProvider(
  db: Db,
  payout: Payout,
  since: Date,
  why: string,
): Promise<PayoutState> {
  const now = new Date();
  const waitedMs = now.getTime() - since.getTime();
  const level = Math.max(attentionLevel(waitedMs), payout.attentionLevel);
  const inDoubt = payout.status === 'approved' && payout.inDoubtSince === null;
  const noted =
    inDoubt || level !== payout.attentionLevel
      ? await noteOnPayout(db, payout.id, payout.status, {
          attentionLevel: level,
          ...(inDoubt ? { inDoubtSince: now } : {}),
        })
      : payout;
  const current = noted ?? (await getPayout(db, payout.id));
  return reportPayout(current, now, { ms: nextCheckMs(waitedMs), why: why + escalation(level) });
}

function escalation(level: number): string {
  const threshold = ESCALATION_AFTER_MS[level - 1];
  return threshold === undefined ? '' : `, for more than ${threshold / 60_000} minutes now`;
}
