/**
 * Compares the copy of the providers' statements with the ledger. A difference that remains after
 * another check with the provider opens a case, once. The comparison itself moves no money and
 * changes no status (decisions/money#money-leaves-once).
 */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { findNewDifferences } from '../../src/db/ledger/ledger-verify';
import { openCase } from '../../src/db/cases/cases';
import {
  countPositions,
  databaseTime,
  listMissing,
  storeEntries,
  type MissingEntry,
  type ProviderEntry,
} from '../../src/db/books/provider-statements';
import { findPayment } from '../../src/db/payments/payments';
import type { Db } from '../../src/db/transaction';
import type { Limited, Provider } from '../../src/adapters/providers/port';
import { type PaymentWorkflows, paymentStart } from '../../src/temporal/payment-workflows';
import { checkoutEntries, payoutEntries, type ReconciliationDeps } from './read-statements';

/** The limit of calls to providers, one for each transfer. */
const ASKED_MAX = 100;

/** A thousand cases are enough, even if everything differs. */
const NOTED_MAX = 1_000;

/**
 * A statement may be incomplete. Before a case is opened, the provider is queried by reference for
 * what the gateway completed and the statement does not show.
 */
export async function askForMissing({
  db,
  providers,
}: ReconciliationDeps): Promise<{ asked: number }> {
  const missing = await listMissing(db, ASKED_MAX);
  for (const one of missing) {
    const provider = providers.list(one.mode).find(({ code }) => code === one.provider);
    if (provider === undefined) continue;
    const readAt = await databaseTime(db);
    const entries = await ask(provider, one, readAt);
    if (entries !== null) await storeEntries(db, one, readAt, entries);
  }
  return { asked: missing.length };
}

/** @returns null when the provider does not answer */
async function ask(
  provider: Provider,
  missing: MissingEntry,
  askedAt: Date,
): Promise<ProviderEntry[] | null> {
  const { kind, reference, id, amount, currency } = missing;
  const found =
    kind === 'payout'
      ? await findPayout(provider, reference, askedAt)
      : await findCheckout(provider, reference, askedAt);
  if (found === null) return null;
  if (found.some((entry) => entry.kind === kind && (kind === 'payout' || entry.id === id)))
    return found;
  const absent = {
    kind,
    reference,
    id,
    amount,
    currency,
    held: false,
    changedAt: askedAt,
  } as const;
  return [...found, { ...absent, state: 'void' }];
}

async function findPayout(provider: Provider, reference: string, askedAt: Date) {
  const found = await provider.findPayout(reference);
  if (found.kind === 'limited') throw limitedBy(found);
  if (found.kind === 'found') return payoutEntries(found.transfer, askedAt);
  return found.kind === 'not_found' ? [] : null;
}

async function findCheckout(provider: Provider, reference: string, askedAt: Date) {
  const found = await provider.findCheckout(reference);
  if (found.kind === 'limited') throw limitedBy(found);
  if (found.kind === 'found') return checkoutEntries(found.checkout, askedAt);
  return found.kind === 'not_found' ? [] : null;
}

/**
 * The failure that makes Temporal try again later. The next attempt continues with what is still
 * missing.
 */
function limitedBy({ reason, retryAfterMs }: Limited): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ProviderLimited',
    message: reason,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: retryAfterMs,
  });
}

/** Kinds of a lost callback: the payment's workflow books these when it checks the provider. */
const BOOKED_BY_CHECK = ['money_not_credited', 'refund_not_recorded'] as const;

export interface LookDeps {
  db: Db;
  paymentWorkflows: PaymentWorkflows;
}

/** Makes payments check their provider again before a case is opened. */
export async function lookAgain({ db, paymentWorkflows }: LookDeps): Promise<{ told: number }> {
  const differences = await findNewDifferences(db, NOTED_MAX, BOOKED_BY_CHECK);
  const ids = new Set(differences.map(({ objectId }) => objectId));
  for (const id of ids) {
    const payment = await findPayment(db, id);
    if (payment !== null) await paymentWorkflows.sendProviderUpdate(paymentStart(payment));
  }
  return { told: ids.size };
}

export async function noteDifferences(db: Db): Promise<{ noted: number }> {
  const differences = await findNewDifferences(db, NOTED_MAX);
  for (const { kind, objectId, details } of differences) {
    await openCase(db, kind, objectId, details);
  }
  await countPositions(db);
  return { noted: differences.length };
}
