/**
 * Receives the providers' callbacks. A callback moves no money: it wakes the payout's workflow,
 * which reads the state from the provider. For a payout that has ended, the provider's state is
 * compared with the gateway's, and a contradiction opens a case (decisions/money#money-leaves-once).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { openCase } from '../../db/cases/cases';
import { findPayment } from '../../db/payments/payments';
import { findPayout } from '../../db/payouts/payouts';
import type { Db } from '../../db/transaction';
import { ApiError } from '../../domain/errors';
import { MODES, type Mode } from '../../domain/mode';
import { isFinalPayout, type Payout } from '../../domain/payout';
import { contradiction } from '../../domain/provider-checks';
import type { Provider, ProviderRegistry } from '../../adapters/providers/registry';
import { type PaymentWorkflows, paymentStart } from '../../temporal/payment-workflows';
import { payoutStart, type PayoutWorkflows } from '../../temporal/payout-workflows';
import type { ProviderCallbacks } from '../../kit/service/services';

export interface ProviderCallbacksDeps {
  db: Db;
  providers: ProviderRegistry;
  payoutWorkflows: PayoutWorkflows;
  paymentWorkflows: PaymentWorkflows;
}

export function createProviderCallbacks(deps: ProviderCallbacksDeps): ProviderCallbacks {
  return {
    async receive(code, modeText, headers, rawBody) {
      const mode = MODES.find((one) => one === modeText);
      const provider =
        mode && deps.providers.list(mode).find((candidate) => candidate.code === code);
      if (mode === undefined || provider === undefined) {
        throw new ApiError({ code: 'not_found', details: { resource: 'provider' } });
      }
      await receive(deps, mode, provider, headers, rawBody);
    },
  };
}

async function receive(
  deps: ProviderCallbacksDeps,
  mode: Mode,
  provider: Provider,
  headers: IncomingHttpHeaders,
  rawBody: Buffer,
): Promise<void> {
  const hint = provider.readCallback(headers, rawBody);
  if (hint === null) throw new ApiError({ code: 'invalid_signature' });
  // Accepted and ignored: an error would only make the provider send it again.
  if (hint.object === 'other') return;
  const take = hint.object === 'payment' ? takePayment : takePayout;
  await take(deps, mode, provider, hint.reference);
}

/** Wakes the payment's workflow, also after its end, because money can arrive late. */
async function takePayment(
  deps: ProviderCallbacksDeps,
  mode: Mode,
  provider: Provider,
  reference: string,
): Promise<void> {
  const payment = await findPayment(deps.db, reference);
  // The checkout is opened before its payment is stored; the workflow then checks it anyway.
  if (payment?.provider !== provider.code || payment.mode !== mode) return;
  const sent = await deps.paymentWorkflows.sendProviderUpdate(paymentStart(payment));
  if (sent.kind !== 'sent') throw tryAgain();
}

async function takePayout(
  deps: ProviderCallbacksDeps,
  mode: Mode,
  provider: Provider,
  reference: string,
): Promise<void> {
  const payout = await findPayout(deps.db, reference);
  // Authentic, but about an unknown object: a second delivery would not change anything.
  if (payout?.provider !== provider.code || payout.mode !== mode) return;
  if (!isFinalPayout(payout.status)) {
    const sent = await deps.payoutWorkflows.sendProviderUpdate(payoutStart(payout));
    if (sent.kind === 'sent') return;
    const now = await findPayout(deps.db, payout.id);
    if (now === null || !isFinalPayout(now.status)) throw tryAgain();
    return compare(deps, provider, now);
  }
  return compare(deps, provider, payout);
}

async function compare(
  { db }: ProviderCallbacksDeps,
  provider: Provider,
  payout: Payout,
): Promise<void> {
  const found = await provider.findPayout(payout.id, payout.network);
  const status = transferStatus(found);
  if (status === null) throw tryAgain();
  const kind = contradiction(payout.status, status);
  if (kind === null) return;
  await openCase(db, kind, payout.id, { ours: payout.status, theirs: status });
}

/** Null when the answer says nothing about the transfer: only the provider's `not_found` means none. */
function transferStatus(
  found: Awaited<ReturnType<Provider['findPayout']>>,
): Parameters<typeof contradiction>[1] | null {
  switch (found.kind) {
    case 'found':
      return found.transfer.status;
    case 'not_found':
      return 'not_found';
    case 'limited':
    case 'unknown':
      return null;
  }
}

/** The provider sends a failed callback again. */
function tryAgain(): ApiError {
  return new ApiError({ code: 'service_unavailable', details: { reason: 'callback_not_taken' } });
}
