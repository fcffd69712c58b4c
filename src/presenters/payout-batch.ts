/**
 * A batch of payouts in API responses and webhook events, and its manifest: the rows in canonical
 * form. An approval names the hash of the manifest, so it is about exactly these rows.
 */
import { createHash } from 'node:crypto';
import type { Payout } from '../domain/payout';
import type { PayoutBatch, PayoutBatchProgress, PayoutBatchTotals } from '../domain/payout-batch';
import { presentFault, type BatchTerms } from '../domain/batch-terms';
import { type Amount, add, ZERO } from '../domain/money';
import { isFinalPayout } from '../domain/payout';
import type {
  PayoutBatchCheckObject,
  PayoutBatchObject,
  PayoutBatchProofObject,
} from '../schemas/payout-batches';

export function presentPayoutBatch(
  batch: PayoutBatch,
  progress: PayoutBatchProgress,
): PayoutBatchObject {
  return {
    id: batch.id,
    object: 'payout_batch',
    mode: batch.mode,
    status: batch.status,
    reference: batch.reference,
    description: batch.description,
    rows: presentProgress(batch, progress),
    totals: batch.totals.map(presentTotals),
    manifest_sha256: batch.manifestSha256,
    awaits_second_person: batch.awaitsSecondPerson,
    stop_requested_at: batch.ending === 'stop' ? (batch.endingAt?.toISOString() ?? null) : null,
    rejection_reason: batch.ending === 'reject' ? batch.endingReason : null,
    created_at: batch.createdAt.toISOString(),
    updated_at: batch.updatedAt.toISOString(),
    closed_at: batch.closedAt?.toISOString() ?? null,
  };
}

function presentProgress({ rowCount }: PayoutBatch, progress: PayoutBatchProgress) {
  const { waiting, processing, sent, failed, returned, leftOut } = progress;
  return { total: rowCount, waiting, processing, sent, failed, returned, left_out: leftOut };
}

function presentTotals(totals: PayoutBatchTotals) {
  return {
    currency: totals.currency,
    rows: totals.rows,
    amount: totals.amount,
    service_fee: totals.serviceFee,
    network_fee: totals.networkFee,
    total_debit: totals.totalDebit,
  };
}

/** The result of a dry run. */
export function presentBatchCheck({
  faults,
  totals,
  shortage,
  reviewReasons,
}: Pick<BatchTerms, 'faults' | 'totals' | 'shortage' | 'reviewReasons'>): PayoutBatchCheckObject {
  return {
    object: 'payout_batch_check',
    valid: faults.length === 0 && shortage === null,
    refused_rows: faults.map(presentFault),
    totals: totals.map(presentTotals),
    missing: shortage?.code === 'insufficient_balance' ? shortage.details : null,
    review_reasons: reviewReasons,
  };
}

/** The sums that the ledger has for the rows of a batch in one currency. */
export interface BatchLedger {
  currency: string;
  reserved: Amount;
  settled: Amount;
  released: Amount;
}

export function presentBatchProof({
  batch,
  payouts,
  ledger,
}: {
  batch: PayoutBatch;
  payouts: readonly Payout[];
  ledger: readonly BatchLedger[];
}): PayoutBatchProofObject {
  const leftOut = new Set<number | null>(batch.leftOutRows);
  const isLeftOut = ({ batchRow }: Payout) => leftOut.has(batchRow);
  const currencies = [...new Set(payouts.map(({ currency }) => currency))];
  const manifestRows = payouts.filter((payout) => !isLeftOut(payout));
  const totals = currencies.map((currency) => {
    const all = payouts.filter((payout) => payout.currency === currency);
    const own = manifestRows.filter((payout) => payout.currency === currency);
    const manifest = batch.totals.find((one) => one.currency === currency)?.totalDebit ?? ZERO;
    const posted = ledger.find((one) => one.currency === currency);
    return {
      currency,
      manifest,
      sent: sumOf(own.filter(({ status }) => status === 'completed')),
      failed: sumOf(own.filter(({ status }) => status === 'failed')),
      returned: sumOf(own.filter(({ status }) => ['cancelled', 'rejected'].includes(status))),
      open: sumOf(own.filter(({ status }) => !isFinalPayout(status))),
      left_out: sumOf(all.filter(isLeftOut)),
      ledger_reserved: posted?.reserved ?? ZERO,
      ledger_settled: posted?.settled ?? ZERO,
      ledger_released: posted?.released ?? ZERO,
    };
  });
  const isBalanced =
    manifestSha256(manifestRows) === batch.manifestSha256 &&
    totals.every(
      (sums) =>
        add(sums.sent, sums.failed, sums.returned, sums.open) === sums.manifest &&
        sums.ledger_reserved === add(sums.manifest, sums.left_out) &&
        sums.ledger_settled === sums.sent &&
        sums.ledger_released === add(sums.failed, sums.returned, sums.left_out),
    );
  return {
    object: 'payout_batch_proof',
    batch_id: batch.id,
    manifest_sha256: batch.manifestSha256,
    closed_at: batch.closedAt?.toISOString() ?? null,
    totals,
    balanced: isBalanced,
    rows: payouts.map((payout) => ({
      row: payout.batchRow ?? 0,
      id: payout.id,
      reference: payout.reference,
      status: payout.status,
      currency: payout.currency,
      amount: payout.amount,
      total_debit: payout.totalDebit,
      tx_hash: payout.txHash,
      left_out: isLeftOut(payout),
      manifest: presentManifestRow(payout),
    })),
  };
}

function sumOf(payouts: readonly Payout[]): Amount {
  return payouts.length === 0 ? ZERO : add(...payouts.map(({ totalDebit }) => totalDebit));
}

export type ManifestRow = Pick<
  Payout,
  | 'batchRow'
  | 'id'
  | 'reference'
  | 'amount'
  | 'currency'
  | 'network'
  | 'provider'
  | 'destinationType'
  | 'destinationValue'
  | 'destinationMemo'
  | 'serviceFee'
  | 'networkFee'
>;

/** One row in canonical form: JSON with its members in this order, without spaces. */
export function presentManifestRow(payout: ManifestRow): string {
  return JSON.stringify({
    row: payout.batchRow,
    id: payout.id,
    reference: payout.reference,
    amount: payout.amount,
    currency: payout.currency,
    network: payout.network,
    provider: payout.provider,
    destination: {
      type: payout.destinationType,
      value: payout.destinationValue,
      memo: payout.destinationMemo,
    },
    service_fee: payout.serviceFee,
    network_fee: payout.networkFee,
  });
}

/**
 * SHA-256, as hexadecimal text, of the rows in canonical form, each ended by a line feed.
 * @param payouts in the order of the batch
 */
export function manifestSha256(payouts: readonly ManifestRow[]): string {
  const manifest = hashManifest();
  for (const payout of payouts) manifest.add(payout);
  return manifest.sha256();
}

/** Takes the rows one after the other. */
export function hashManifest() {
  const hash = createHash('sha256');
  return {
    add: (payout: ManifestRow) => {
      hash.update(`${presentManifestRow(payout)}\n`);
    },
    sha256: () => hash.digest('hex'),
  };
}
