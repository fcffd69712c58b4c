/** Batches of payouts on the wire. Each row is a payout request. */
import { type Static, Type } from 'typebox';
import { type RowFault, presentFault, type BatchTerms } from '../../domain/batch-terms';
import { ApiError, type FieldError, REFUSED_ROWS_SHOWN } from '../../domain/errors';
import {
  BATCH_ROWS_MAX,
  LEFT_OUT_AT_ONCE_MAX,
  PAYOUT_BATCH_STATUSES,
  type PayoutBatch,
  type PayoutBatchProgress,
  type PayoutBatchTotals,
} from '../../domain/payout-batch';
import { PAYOUT_STATUSES, type Payout, isFinalPayout } from '../../domain/payout';
import { REVIEW_REASONS } from '../../domain/review';
import { compileBody, type Json, RequestDescription } from '../../kit/api/body';
import {
  AmountText,
  AwaitsSecondPerson,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  OrNull,
  Shape,
  Timestamp,
} from '../../kit/api/common';
import {
  created,
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listed,
  listQueryOf,
  shown,
  operations,
} from '../../kit/api/operation';
import { PayoutRowBody, readPayoutRow } from '../payouts/payouts-contract';
import { type Query, readListQuery } from '../../kit/api/query';
import { createHash } from 'node:crypto';
import { type Amount, add, ZERO } from '../../domain/money';

const HEAD = {
  reference: PayoutRowBody.properties.reference,
  description: Type.Optional(RequestDescription),
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'true checks every row and answers with the faults, fees and totals',
      default: false,
    }),
  ),
};
const ROWS = { minItems: 1, maxItems: BATCH_ROWS_MAX };
const ROWS_DESCRIPTION = `1 to ${BATCH_ROWS_MAX.toLocaleString('en')} payout requests`;

/** The body of POST /payout_batches. */
export const PayoutBatchBody = Type.Object(
  { ...HEAD, payouts: Type.Array(PayoutRowBody, { ...ROWS, description: ROWS_DESCRIPTION }) },
  { additionalProperties: false, description: 'A batch of payouts' },
);

/** The rows are read one by one, so that every faulty row is named. */
const readHead = compileBody(
  Type.Object(
    {
      ...HEAD,
      payouts: Type.Array(Type.Any(), { ...ROWS, description: ROWS_DESCRIPTION }),
    },
    { additionalProperties: false, description: 'A batch of payouts' },
  ),
);

/** @throws ApiError validation_failed about the batch itself; a faulty row is returned as such */
export function readPayoutBatchRequest(json: Json) {
  const body = readHead(json);
  return {
    reference: body.reference,
    description: body.description ?? null,
    isDryRun: body.dry_run ?? false,
    rows: readRows(json['payouts'] as unknown[], readPayoutRow),
  };
}

/**
 * Reading ends after as many faulty rows as a refusal shows, because each of their fields is looked at.
 * @param read throws ApiError for a faulty row
 */
export function readRows<Order>(
  rows: readonly unknown[],
  read: (json: Json) => Order,
): (Order | RowFault)[] {
  const found: (Order | RowFault)[] = [];
  let faults = 0;
  for (const [index, row] of rows.entries()) {
    const order = readRow(row, index + 1, read);
    found.push(order);
    if ('refusal' in (order as object) && ++faults >= REFUSED_ROWS_SHOWN) break;
  }
  return found;
}

/** @param read throws ApiError for a faulty row */
function readRow<Order>(json: unknown, row: number, read: (json: Json) => Order): Order | RowFault {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    const message = 'Send each row as a payout request, a JSON object.';
    const fields: FieldError[] = [{ field: `payouts.${row - 1}`, rule: 'type', message }];
    return { row, reference: null, refusal: { code: 'validation_failed', details: { fields } } };
  }
  try {
    return read(json as Json);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { reference } = json as Json;
    const known = typeof reference === 'string' ? reference.slice(0, 64) : null;
    return { row, reference: known, refusal: error.refusal };
  }
}

/** The body of POST /payout_batches/{id}/leave_out. */
export const LeaveOutBody = Type.Object(
  {
    rows: Type.Array(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_ROWS_MAX,
        description: `The number of a row, from 1 to ${BATCH_ROWS_MAX}`,
      }),
      {
        minItems: 1,
        maxItems: LEFT_OUT_AT_ONCE_MAX,
        description: `1 to ${LEFT_OUT_AT_ONCE_MAX} row numbers, counted from 1`,
      },
    ),
  },
  { additionalProperties: false, description: 'The rows to leave out' },
);

const readLeaveOut = compileBody(LeaveOutBody);

/** @throws ApiError validation_failed */
export function readLeaveOutRequest(json: Json) {
  return readLeaveOut(json);
}

/** @throws ApiError validation_failed with every failing parameter */
export function readPayoutBatchQuery(query: Query) {
  return readListQuery({}, query);
}

const Totals = Shape(
  {
    currency: CurrencyCode,
    rows: Type.Integer({ minimum: 1, description: 'The number of rows in this currency' }),
    amount: AmountText('What the recipients receive'),
    service_fee: AmountText('Our fees'),
    network_fee: AmountText('The fees estimated by the providers'),
    total_debit: AmountText('amount + service_fee + network_fee'),
  },
  'The sums of one currency',
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A batch (decisions/payouts#payout-batches). */
export const PayoutBatchObject = Shape(
  {
    id: Id('payoutBatch'),
    object: Type.Literal('payout_batch'),
    mode: ModeName,
    status: OneOf(PAYOUT_BATCH_STATUSES, 'The status'),
    reference: Type.String({ description: 'Your unique ID' }),
    description: OrNull(Type.String({ maxLength: 255 }), 'Your description'),
    rows: Shape(
      {
        total: count('All rows'),
        waiting: count('Reserved, and not released to the provider'),
        processing: count('Released, and not final'),
        sent: count('Completed'),
        failed: count('Failed: the funds were returned'),
        returned: count('Returned without having been submitted'),
        left_out: count('Left out before the approval, and returned'),
      },
      'The number of rows in each state',
    ),
    totals: Type.Array(Totals, {
      description: 'The sums of the rows that were not left out, by currency',
    }),
    manifest_sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'SHA-256 of the manifest: the rows in canonical form, without those that were left out',
    }),
    awaits_second_person: AwaitsSecondPerson,
    stop_requested_at: OrNull(Timestamp('When the batch was stopped'), 'Null if it was not'),
    rejection_reason: OrNull(Type.String(), 'Set when an operator rejected the batch'),
    created_at: Timestamp('The time of creation'),
    updated_at: Timestamp('The time of the last change'),
    closed_at: OrNull(Timestamp('When the last row ended'), 'Null while rows are open'),
  },
  'A batch of payouts',
);
export type PayoutBatchObject = Static<typeof PayoutBatchObject>;

/** The answer of a dry run. */
export const PayoutBatchCheckObject = Shape(
  {
    object: Type.Literal('payout_batch_check'),
    valid: Type.Boolean({
      description: 'Whether the same request without dry_run is accepted now',
    }),
    refused_rows: Type.Array(
      Shape(
        {
          row: Type.Integer({ minimum: 1, description: 'The row, counted from 1' }),
          reference: OrNull(Type.String(), 'The reference of the row'),
          code: Type.String({ description: 'The error code' }),
          message: Type.String({ description: 'What is wrong and what to do' }),
          details: OrNull(
            Type.Object({}, { additionalProperties: true }),
            'The details of the error code',
          ),
        },
        'A refused row',
      ),
      {
        description: `The refused rows. Reading ends after ${REFUSED_ROWS_SHOWN} rows with invalid fields`,
      },
    ),
    totals: Type.Array(Totals, { description: 'The sums of the other rows, by currency' }),
    missing: OrNull(
      Shape(
        {
          currency: CurrencyCode,
          available: AmountText('The available balance'),
          required: AmountText('The total_debit of the rows'),
        },
        'A balance',
      ),
      'The first balance that does not cover its rows',
    ),
    review_reasons: Type.Array(OneOf(REVIEW_REASONS, 'A review rule'), {
      description: 'Why an operator must approve the batch; empty if nobody has to',
    }),
  },
  'The result of a dry run',
);
export type PayoutBatchCheckObject = Static<typeof PayoutBatchCheckObject>;

/** The proof of what became of the money of each row. */
export const PayoutBatchProofObject = Shape(
  {
    object: Type.Literal('payout_batch_proof'),
    batch_id: Id('payoutBatch'),
    manifest_sha256: Type.String({
      description: 'SHA-256 of the rows in canonical form, without those that were left out',
    }),
    closed_at: OrNull(Timestamp('When the last row ended'), 'Null while rows are open'),
    totals: Type.Array(
      Shape(
        {
          currency: CurrencyCode,
          manifest: AmountText('The total_debit of all rows that were not left out'),
          sent: AmountText('The total_debit of the completed rows'),
          failed: AmountText('The total_debit of the failed rows'),
          returned: AmountText('The total_debit of the returned rows'),
          open: AmountText('The total_debit of the rows that are not final'),
          left_out: AmountText('The total_debit of the rows that were left out, and returned'),
          ledger_reserved: AmountText('What the ledger reserved for the rows'),
          ledger_settled: AmountText('What the ledger settled'),
          ledger_released: AmountText('What the ledger returned'),
        },
        'The sums of one currency: sent + failed + returned + open = manifest, and manifest + left_out = ledger_reserved',
      ),
    ),
    balanced: Type.Boolean({ description: 'Whether all of these sums agree' }),
    rows: Type.Array(
      Shape(
        {
          row: Type.Integer({ minimum: 1, description: 'The row, counted from 1' }),
          id: Id('payout'),
          reference: Type.String(),
          status: OneOf(PAYOUT_STATUSES, 'The status of the payout'),
          currency: CurrencyCode,
          amount: AmountText('What the recipient receives'),
          total_debit: AmountText('The amount plus fees'),
          tx_hash: OrNull(Type.String(), 'Set if the provider supplied one'),
          left_out: Type.Boolean({ description: 'Whether it was left out before the approval' }),
          manifest: Type.String({ description: 'The row in canonical form' }),
        },
        'A row',
      ),
    ),
  },
  'What became of the money of a batch',
);
export type PayoutBatchProofObject = Static<typeof PayoutBatchProofObject>;

const EXAMPLE: PayoutBatchObject = {
  id: 'pb_01M7YESA634WQFACSBWYSTKM76',
  object: 'payout_batch',
  mode: 'live',
  status: 'processing',
  reference: 'payroll-2026-11',
  description: 'Payroll, November',
  rows: {
    total: 240,
    waiting: 180,
    processing: 32,
    sent: 27,
    failed: 1,
    returned: 0,
    left_out: 0,
  },
  totals: [
    {
      currency: 'USDT',
      rows: 240,
      amount: '96000.00000000',
      service_fee: '960.00000000',
      network_fee: '240.00000000',
      total_debit: '97200.00000000',
    },
  ],
  manifest_sha256: '4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358',
  awaits_second_person: false,
  stop_requested_at: null,
  rejection_reason: null,
  created_at: '2026-11-21T07:05:30.632Z',
  updated_at: '2026-11-21T07:06:12.104Z',
  closed_at: null,
};

const REQUEST_EXAMPLE: Static<typeof PayoutBatchBody> = {
  reference: 'payroll-2026-11',
  description: 'Payroll, November',
  payouts: [
    {
      amount: '400',
      currency: 'USDT',
      reference: 'payroll-2026-11-001',
      network: 'tron',
      destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    },
    {
      amount: '250.5',
      currency: 'USDT',
      reference: 'payroll-2026-11-002',
      provider: 'exchange_pay',
      destination: { type: 'exchange_id', value: '123456789' },
    },
  ],
};

/** The dry run of the documentation's examples. */
export const CHECK_EXAMPLE: PayoutBatchCheckObject = {
  object: 'payout_batch_check',
  valid: false,
  refused_rows: [
    {
      row: 2,
      reference: 'payroll-2026-11-002',
      code: 'duplicate_reference',
      message:
        'This reference is already used by the object in details.existing_id. Use a new reference.',
      details: { existing_id: 'po_01M7YESA634WQFACSBWYSTKM76', existing_object: 'payout' },
    },
  ],
  totals: EXAMPLE.totals,
  missing: null,
  review_reasons: ['above_auto_approve_max'],
};

const PROOF_EXAMPLE: PayoutBatchProofObject = {
  object: 'payout_batch_proof',
  batch_id: EXAMPLE.id,
  manifest_sha256: EXAMPLE.manifest_sha256,
  closed_at: '2026-11-21T07:12:40.011Z',
  totals: [
    {
      currency: 'USDT',
      manifest: '97200.00000000',
      sent: '96795.00000000',
      failed: '405.00000000',
      returned: '0.00000000',
      open: '0.00000000',
      left_out: '0.00000000',
      ledger_reserved: '97200.00000000',
      ledger_settled: '96795.00000000',
      ledger_released: '405.00000000',
    },
  ],
  balanced: true,
  rows: [],
};

/** The operations of /payout_batches. */
export const PAYOUT_BATCH_OPERATIONS = operations([
  {
    id: 'createPayoutBatch',
    method: 'post',
    path: '/payout_batches',
    tag: 'Payout batches',
    summary: 'Create a batch of payouts',
    description:
      'Reserves the funds of all rows together, or of none. Each row becomes a payout with an ID of its own. With dry_run, every row is checked and nothing is stored; the answer is then 200 with the faults, fees and totals.',
    scope: 'payouts:write',
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: PayoutBatchBody, examples: { payroll: REQUEST_EXAMPLE } },
    success: created(PayoutBatchObject, EXAMPLE),
    answer: shown(PayoutBatchCheckObject, CHECK_EXAMPLE),
    errors: [...CREATION_ERRORS, 'rows_refused', 'insufficient_balance'],
  },
  {
    id: 'listPayoutBatches',
    method: 'get',
    path: '/payout_batches',
    tag: 'Payout batches',
    summary: 'List batches',
    description: 'Returns batches, newest first. GET /payouts?batch=… lists the rows of one.',
    scope: 'payouts:read',
    parameters: listQueryOf({}),
    success: listed(PayoutBatchObject, '/payout_batches', [EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getPayoutBatch',
    method: 'get',
    path: '/payout_batches/{id}',
    tag: 'Payout batches',
    summary: 'Retrieve a batch',
    description: 'Returns the current state of a batch and the number of rows in each state.',
    scope: 'payouts:read',
    parameters: [idOf('payoutBatch')],
    success: shown(PayoutBatchObject, EXAMPLE),
    errors: ['not_found'],
  },
  {
    id: 'getPayoutBatchProof',
    method: 'get',
    path: '/payout_batches/{id}/proof',
    tag: 'Payout batches',
    summary: 'Retrieve the proof of a batch',
    description:
      'Returns every row with what became of its money, and the sums of the rows and of the ledger. The SHA-256 of the rows in canonical form that were not left out, each ended by a line feed, is manifest_sha256.',
    scope: 'payouts:read',
    parameters: [idOf('payoutBatch')],
    success: shown(PayoutBatchProofObject, PROOF_EXAMPLE),
    errors: ['not_found'],
  },
  {
    id: 'stopPayoutBatch',
    method: 'post',
    path: '/payout_batches/{id}/stop',
    tag: 'Payout batches',
    summary: 'Stop a batch',
    description:
      'Returns the funds of all rows that were not released to the provider. Rows that were released continue; the status becomes stopped when the last of them has ended.',
    scope: 'payouts:write',
    parameters: [idOf('payoutBatch')],
    success: shown(PayoutBatchObject, EXAMPLE),
    errors: ['not_found', 'invalid_state', 'service_unavailable'],
  },
  {
    id: 'leaveOutPayoutBatchRows',
    method: 'post',
    path: '/payout_batches/{id}/leave_out',
    tag: 'Payout batches',
    summary: 'Leave rows out of a batch',
    description:
      'Before the approval only: cancels these rows, returns their funds, and makes the manifest of the rows that remain. manifest_sha256 and totals change, and an approval names the new hash. Rows that were left out before stay so.',
    scope: 'payouts:write',
    parameters: [idOf('payoutBatch')],
    body: { schema: LeaveOutBody, examples: { rows: { rows: [2, 17] } } },
    success: shown(PayoutBatchObject, EXAMPLE),
    errors: ['not_found', 'validation_failed', 'invalid_state', 'service_unavailable'],
  },
]);

/**
 * A batch of payouts in API responses and webhook events, and its manifest: the rows in canonical
 * form. An approval names the hash of the manifest, so it is about exactly these rows.
 */

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
