/**
 * Hands an approved payout to its provider, and finds out what became of it when the answer was
 * lost. The payout's id is the provider's client reference: whatever happens here twice, the
 * provider sends once. No funds are released while the provider might still send (decision O6).
 */
import { findPauseReason } from '../../src/db/repositories/payout-pauses';
import { getPayout, noteOnPayout } from '../../src/db/repositories/payouts';
import { releasePosting } from '../../src/domain/ledger';
import type { Payout } from '../../src/domain/payout';
import type { PayoutOrder, Provider } from '../../src/providers/port';
import type { PayoutState } from '../../workflows/messages';
import { providerOf, type PayoutDeps } from './deps';
import { reportPayout } from './report';
import { applyTransition } from './transition';
import { recordTransfer, waitForProvider } from './transfer';

const PAUSE_CHECK_MS = 15_000;

export async function submitPayout(deps: PayoutDeps, payoutId: string): Promise<PayoutState> {
  const payout = await getPayout(deps.db, payoutId);
  if (payout.status !== 'approved') return reportPayout(payout, new Date());
  const provider = providerOf(deps, payout);
  if (payout.submissionStartedAt !== null) return resume(deps, payout, provider);

  const pause = await findPauseReason(deps.db, payout.provider, payout.accountId);
  if (pause !== null) {
    const why = `waits for an operator to resume payouts (paused: ${pause})`;
    return reportPayout(payout, new Date(), { ms: PAUSE_CHECK_MS, why });
  }
  const started = await noteOnPayout(deps.db, payout.id, 'approved', {
    submissionStartedAt: new Date(),
  });
  // Rejected in the meantime.
  if (started === null) return reportPayout(await getPayout(deps.db, payout.id), new Date());
  return submit(deps, started, provider);
}

/** An earlier run may have submitted: ask first. The same reference again is safe in any case. */
async function resume(deps: PayoutDeps, payout: Payout, provider: Provider): Promise<PayoutState> {
  const found = await provider.findPayout(payout.id);
  switch (found.kind) {
    case 'found':
      return recordTransfer(deps.db, payout, found.transfer);
    case 'not_found':
      return submit(deps, payout, provider);
    case 'unknown':
      return stayInDoubt(deps, payout, found.reason);
  }
}

async function submit(deps: PayoutDeps, payout: Payout, provider: Provider): Promise<PayoutState> {
  const result = await provider.submitPayout(orderOf(payout));
  switch (result.kind) {
    case 'accepted':
      return recordTransfer(deps.db, payout, result.transfer);
    case 'unknown':
      return stayInDoubt(deps, payout, result.reason);
    case 'refused': {
      const refused = await applyTransition(deps.db, payout.id, {
        trigger: 'refuse',
        change: { failureReason: result.reason, inDoubtSince: null, attentionLevel: 0 },
        posting: releasePosting,
      });
      return reportPayout(refused.payout, new Date());
    }
  }
}

async function stayInDoubt(deps: PayoutDeps, payout: Payout, reason: string): Promise<PayoutState> {
  const why = `is in doubt: ${reason} The provider is asked again until it answers`;
  return waitForProvider(deps.db, payout, payout.inDoubtSince ?? new Date(), why);
}

function orderOf(payout: Payout): PayoutOrder {
  return {
    reference: payout.id,
    amount: payout.amount,
    currency: payout.currency,
    network: payout.network,
    destination: {
      type: payout.destinationType,
      value: payout.destinationValue,
      memo: payout.destinationMemo,
    },
  };
}
