/**
 * Reserves the funds of a batch: one transaction that checks every row under the locks, writes the
 * batch, its rows, their events and the stored response, and posts one reservation for each currency
 * last. Safe to run twice: an existing batch is kept.
 */
import { readBatchFacts } from '../../src/db/payout-batches/batch-facts';
import {
  type ClaimedRoutes,
  type HeldClaim,
  lockClaim,
  releaseClaim,
  storeResponse,
} from '../../src/db/idempotency';
import {
  insertBatchRows,
  insertRowEvents,
  reserveRows,
} from '../../src/db/payout-batches/payout-batch-rows';
import {
  findBatchByReference,
  findPayoutBatch,
  insertPayoutBatch,
} from '../../src/db/payout-batches/payout-batches';
import type { EventTx } from '../../src/db/webhooks/events';
import { insertBeneficiaries } from '../../src/db/payouts/payout-beneficiaries';
import { insertConditions } from '../../src/db/payouts/payout-conditions';
import { lockUsage } from '../../src/db/payouts/payout-facts';
import { findPersonOf } from '../../src/db/approvals/second-person';
import { holdRecipients } from '../../src/db/recipients/recipients';
import { findRequesterFault } from '../../src/db/api-keys/requesters';
import { databaseTime } from '../../src/db/database-time';
import type { Tx } from '../../src/db/transaction';
import {
  batchTerms,
  type BatchTerms,
  type RoutedRow,
  rowsRefused,
} from '../../src/domain/batch-terms';
import type { Refusal } from '../../src/domain/errors';
import { reservePosting } from '../../src/domain/ledger';
import type { Payout } from '../../src/domain/payout';
import type {
  PayoutBatch,
  PayoutBatchProgress,
  PayoutBatchRequest,
} from '../../src/domain/payout-batch';
import { addressed, type ReadRecipient } from '../../src/domain/recipient';
import { secondPersonUntil } from '../../src/domain/second-person';
import { duplicateReference, insufficientBalance } from '../../src/domain/terms';
import { beneficiaryOwnerOfRow, resealBeneficiary } from '../../src/platform/lib/beneficiary-seal';
import { newId } from '../../src/platform/lib/new-id';
import type { SecretBox } from '../../src/platform/lib/secret-box';
import { presentCreated } from '../../src/kit/service/envelope';
import {
  manifestSha256,
  presentPayoutBatch,
} from '../../src/features/payout-batches/payout-batches-contract';
import type { PayoutBatchInput, PayoutBatchState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayout } from '../events';
import { Refused } from '../refused';
import { buildPayout, recipientFault } from '../payout/build';
import {
  claimOfRun,
  failRunOfBatch,
  noteRun,
  requireDueRun,
  requireScheduleApproval,
} from '../payout-schedule/run';
import { reportBatch } from './report';

export type BatchReserveResult =
  | { kind: 'reserved'; state: PayoutBatchState; consolePage?: string }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'abandoned' };

type BatchClaim = HeldClaim<PayoutBatchRequest, ClaimedRoutes>;

export async function reservePayoutBatch(
  deps: Deps,
  input: PayoutBatchInput,
): Promise<BatchReserveResult> {
  try {
    const result = await inEventTransaction(deps, input.batchId, (tx) =>
      reserve(tx, deps.secretBox, input),
    );
    if (result.kind !== 'reserved' || deps.consoleUrl === null) return result;
    return { ...result, consolePage: `${deps.consoleUrl}/batches/${input.batchId}` };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await releaseClaim(deps.db, input.batchId);
    await failRunOfBatch(deps, input.batchId, error.refusal);
    return { kind: 'refused', refusal: error.refusal };
  }
}

async function reserve(
  tx: EventTx,
  secretBox: SecretBox,
  { batchId }: PayoutBatchInput,
): Promise<BatchReserveResult> {
  const requested = await lockClaim<PayoutBatchRequest, ClaimedRoutes>(tx, batchId);
  const scheduled = requested === null ? await claimOfRun(tx, batchId) : null;
  const claim = requested ?? scheduled?.claim ?? null;
  if (claim === null) {
    const batch = await findPayoutBatch(tx, batchId);
    if (batch !== null) return { kind: 'reserved', state: await reportBatch(tx, batch) };
    await releaseClaim(tx, batchId);
    return { kind: 'abandoned' };
  }
  if (scheduled !== null) await requireDueRun(tx, scheduled);
  const requesterFault = await findRequesterFault(tx, claim);
  if (requesterFault !== null) throw new Refused(requesterFault);
  const rows = routedRows(claim, await holdRecipients(tx, claim, claim.request.payouts));
  const currencies = [...new Set(rows.map(({ request }) => request.currency))].sort();
  // Every batch locks the currencies in this order, so that two batches never wait for each other.
  for (const currency of currencies) lockUsage(tx, { ...claim, currency });
  const facts = await readBatchFacts(tx, claim, rows);
  const terms = batchTerms(claim.mode, rows, facts);
  if (terms.faults.length > 0) throw new Refused(rowsRefused(terms.faults));
  if (terms.shortage !== null) throw new Refused(terms.shortage);
  if (scheduled !== null) requireScheduleApproval(scheduled.schedule);
  const needsSecondPerson = scheduled === null && terms.needsSecondPerson;
  const maker = needsSecondPerson ? await findPersonOf(tx, claim.apiKeyId) : null;
  const now = await databaseTime(tx);
  const payouts = buildPayouts(secretBox, batchId, claim, rows, terms, now);
  const batch = buildBatch(batchId, claim, payouts, terms, { secondPerson: maker, now });
  if (!(await insertPayoutBatch(tx, batch))) {
    const existingId = await findBatchByReference(tx, batch);
    if (existingId === null)
      throw new Error(`${batchId} was refused, and no batch has its reference`);
    throw new Refused(duplicateReference('payout_batch', existingId));
  }
  if ((await insertBatchRows(tx, payouts)) !== payouts.length) {
    // Payouts with some of the references were committed after the facts were read.
    const { faults } = batchTerms(claim.mode, rows, await readBatchFacts(tx, claim, rows));
    throw new Refused(rowsRefused(faults));
  }
  insertConditions(tx, payouts);
  insertBeneficiaries(tx, payouts);
  await insertRowEvents(tx, payouts, eventOfPayout);
  if (scheduled === null) {
    await storeResponse(tx, batchId, presentCreated(presentPayoutBatch(batch, atFirst(batch))));
  } else await noteRun(tx, scheduled.run, null);
  for (const currency of currencies) await reserveCurrency(tx, batch, currency, payouts);
  return { kind: 'reserved', state: await reportBatch(tx, batch) };
}

/** @throws Refused for an address that is not one of the row's network */
function routedRows(
  { request, route }: BatchClaim,
  recipients: ReadonlyMap<string, ReadRecipient>,
): RoutedRow[] {
  return request.payouts.map((payout, index) => {
    const chosen = route.rows[index];
    if (chosen === undefined || chosen.networkFee === null) {
      throw new Error(`row ${index + 1} has no route or no network fee`);
    }
    const row = index + 1;
    const refuse = (refusal: Refusal) =>
      new Refused(rowsRefused([{ row, reference: payout.reference, refusal }]));
    const sent = addressed(payout, recipients, chosen);
    if ('refusal' in sent) throw refuse(sent.refusal);
    const fault = recipientFault(sent.request, chosen);
    if (fault !== null) throw refuse(fault);
    return { row, ...sent, route: { ...chosen, networkFee: chosen.networkFee } };
  });
}

function buildPayouts(
  secretBox: SecretBox,
  batchId: string,
  { accountId, mode, apiKeyId }: BatchClaim,
  rows: readonly RoutedRow[],
  { rows: terms }: BatchTerms,
  now: Date,
): Payout[] {
  return rows.map(({ request, route }, index) => {
    const own = terms[index];
    if (own === undefined || own === null) throw new Error(`row ${index + 1} has no terms`);
    const order = { accountId, mode, apiKeyId, request, route, networkFee: route.networkFee, now };
    const payoutId = newId('payout');
    const owner = beneficiaryOwnerOfRow(batchId, index + 1);
    const sealed = resealBeneficiary(secretBox, route.beneficiary ?? null, owner, payoutId);
    const payout = buildPayout({ ...order, payoutId, beneficiary: sealed ?? undefined }, own);
    return { ...payout, batchId, batchRow: index + 1, awaitsBatch: true };
  });
}

function buildBatch(
  id: string,
  { accountId, mode, apiKeyId, request }: BatchClaim,
  payouts: readonly Payout[],
  { totals, reviewReasons }: BatchTerms,
  { secondPerson, now }: { secondPerson: string | null; now: Date },
): PayoutBatch {
  return {
    id,
    accountId,
    mode,
    reference: request.reference,
    status: reviewReasons.length === 0 ? 'requested' : 'under_review',
    description: request.description,
    rowCount: payouts.length,
    leftOutRows: [],
    totals,
    manifestSha256: manifestSha256(payouts),
    apiKeyId,
    reviewReasons,
    secondPerson,
    secondPersonUntil: secondPerson === null ? null : secondPersonUntil(now),
    awaitsSecondPerson: secondPerson !== null,
    approvedBy: null,
    approvedAt: null,
    ending: null,
    endedBy: null,
    endingReason: null,
    endingAt: null,
    closedAt: null,
    closedProgress: null,
    sequence: 1,
    createdAt: now,
    updatedAt: now,
  };
}

function atFirst({ rowCount }: PayoutBatch): PayoutBatchProgress {
  return { waiting: rowCount, processing: 0, sent: 0, failed: 0, returned: 0, leftOut: 0 };
}

async function reserveCurrency(
  tx: Tx,
  { accountId, mode, totals }: PayoutBatch,
  currency: string,
  payouts: readonly Payout[],
): Promise<void> {
  const rows = payouts.filter((payout) => payout.currency === currency);
  const postings = rows.map((payout) => {
    const { operationKey, description, source } = reservePosting(payout);
    return { operationKey, description, sourceId: source.id, amount: payout.totalDebit };
  });
  const { outcome, available } = await reserveRows(tx, { accountId, mode, currency }, postings);
  if (outcome === 'posted') return;
  const needed = totals.find((total) => total.currency === currency)?.totalDebit;
  if (needed === undefined) throw new Error(`the batch has no total of ${currency}`);
  throw new Refused(insufficientBalance(currency, available, needed));
}
